import * as v from 'valibot'
import { workNeeds } from '../shared/work-needs.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'
import { mostCharacters, soundFormats } from '../shared/sounds/speech-bounds.ts'

const speech = lazy(() => import('./audioGenerateFromText/speak.ts'))

const params = v.object({ text: v.pipe(v.string(), v.minLength(1), v.maxLength(mostCharacters)) })

const settings = v.strictObject({
  /** The speech model; the first one when absent. Without any model, the engine of this package speaks. */
  model: v.optional(v.string()),
  voice: v.optional(v.string()),
  format: v.optional(v.picklist(soundFormats), 'wav'),
})

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
      return (await speech()).speak(supplied, wish, text, signal)
    },
  }),
})
