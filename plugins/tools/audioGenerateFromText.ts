import * as v from 'valibot'
import type { Supplied } from '../../core/container.ts'
import { UpstreamFailed } from '../../core/errors.ts'
import { passagesOf, sentencesOf } from '../shared/sounds/sentences.ts'
import { packingOf, soundFormats } from '../shared/sounds/sound-formats.ts'
import { mostCharacters, speakLocally } from '../shared/sounds/speech.ts'
import { joined, soundOf } from '../shared/sounds/wav.ts'
import { runForTool, mayWork, workNeeds } from '../../core/inference/run-for-tool.ts'
import { tokensOf } from '../../core/inference/metering/tokens.ts'
import { plugin } from '../../core/plugin.ts'
import type { Media } from '../../core/ports/upstream.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ text: v.pipe(v.string(), v.minLength(1), v.maxLength(mostCharacters)) })

const settings = v.strictObject({
  /** The speech model; the first one when absent. Without any model, the engine of this package speaks. */
  model: v.optional(v.string()),
  voice: v.optional(v.string()),
  format: v.optional(v.picklist(soundFormats), 'wav'),
})

/** In characters: the longest text for one call of a speech model. */
const mostPartCharacters = 4_000

export default plugin({
  port: Tool,
  name: 'audioGenerateFromText',
  needs: workNeeds,
  settings,
  create: (supplied, wish): Tool<typeof params> => ({
    name: 'audioGenerateFromText',
    description:
      'Speaks a text of at most 20,000 characters; the result is an audio file. Without a speech model it is spoken as English: SSML and letters of other scripts are refused, and pictographs are pauses.',
    kind: 'makes-file',
    makes: 'audio',
    takes: ['tokens'],
    params,
    mostParams: 160 * 1024,
    async run({ text }, signal) {
      signal.throwIfAborted()
      const { mime, bytes } = (await hasModel(supplied, wish, signal))
        ? await byModel(supplied, wish, text, signal)
        : await packingOf(wish.format)(await speakLocally({ text, voice: wish.voice }, signal), signal)
      return { name: `speech.${endings[mime.split(';', 1).join()] ?? wish.format}`, mime, bytes }
    },
  }),
})

type SpeechSettings = v.InferOutput<typeof settings>

const endings: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'opus',
  'audio/aac': 'aac',
  'audio/flac': 'flac',
}

const hasModel = async ({ catalog }: Supplied<typeof workNeeds>, { model }: SpeechSettings, signal: AbortSignal) =>
  model !== undefined || (await catalog.list(signal)).some((entry) => entry.does.has('speak') && mayWork(entry))

const byModel = async (
  supplied: Supplied<typeof workNeeds>,
  { model, voice, format }: SpeechSettings,
  whole: string,
  signal: AbortSignal,
): Promise<Media> => {
  const speak = async (text: string, format: string): Promise<Media> => {
    const { answer } = await runForTool(
      supplied,
      { ability: 'speak', model },
      ({ upstream, model }, signal) =>
        upstream.speak({ model, text, format, ...(voice !== undefined && { voice }) }, signal),
      () => ({ usage: { input: tokensOf(text), output: 0, estimated: true } }),
      signal,
    )
    return answer
  }
  if (whole.length <= mostPartCharacters) return speak(whole, format)
  // Only pieces of this format can be joined.
  const pack = packingOf(format)
  const sounds = []
  for (const sentences of passagesOf(sentencesOf(whole, mostPartCharacters), mostPartCharacters)) {
    const sound = soundOf((await speak(sentences.join(' '), 'wav')).bytes)
    if (sound === null) throw new UpstreamFailed('The speech came in another format')
    sounds.push(sound)
  }
  const speech = joined(sounds)
  if (speech === null) throw new UpstreamFailed('The speech came in several formats')
  return pack(speech, signal)
}
