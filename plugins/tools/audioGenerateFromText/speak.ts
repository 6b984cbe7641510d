import type { Supplied } from '../../../core/container.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import { tokensOf } from '../../../core/inference/metering/tokens.ts'
import { runForTool, mayWork } from '../../shared/run-for-tool.ts'
import type { workNeeds } from '../../shared/work-needs.ts'
import type { Media } from '../../../core/ports/upstream.ts'
import { passagesOf, sentencesOf } from '../../shared/sounds/sentences.ts'
import { packingOf } from '../../shared/sounds/sound-formats.ts'
import { speakLocally } from '../../shared/sounds/speech.ts'
import { joined, soundOf } from '../../shared/sounds/wav.ts'

/** The tool's settings. Without any model, the engine of this package speaks. */
export interface SpeechSettings {
  readonly model?: string | undefined
  readonly voice?: string | undefined
  readonly format: string
}

/** In characters: the longest text for one call of a speech model. */
const mostPartCharacters = 4_000

/** The file of a spoken text. */
export const speak = async (
  supplied: Supplied<typeof workNeeds>,
  wish: SpeechSettings,
  text: string,
  signal: AbortSignal,
) => {
  const { mime, bytes } = (await hasModel(supplied, wish, signal))
    ? await byModel(supplied, wish, text, signal)
    : await packingOf(wish.format)(await speakLocally({ text, voice: wish.voice }, signal), signal)
  return { name: `speech.${endings[mime.split(';', 1).join()] ?? wish.format}`, mime, bytes }
}

/** By the type that a model returned, which may be another one than it was asked for. */
const endings: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'opus',
  'audio/aac': 'aac',
  'audio/flac': 'flac',
}

/** A named model counts without a look at the catalog, so that its absence is a fault and no silent change of voice. */
const hasModel = async ({ catalog }: Supplied<typeof workNeeds>, { model }: SpeechSettings, signal: AbortSignal) =>
  model !== undefined || (await catalog.list(signal)).some((entry) => entry.does.has('speak') && mayWork(entry))

/** Long texts go in parts, as WAV, since only sounds of one format can be joined. */
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
