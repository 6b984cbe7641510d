import * as v from 'valibot'
import { workNeeds } from '../shared/work-needs.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'
import { transcriptionParams as params } from './shared/transcription.ts'

const transcribing = lazy(() => import('./transcribeAudioWithDiarization/transcribe.ts'))

export default plugin({
  port: Tool,
  name: 'transcribeAudioWithDiarization',
  needs: workNeeds,
  settings: v.strictObject({
    /** A transcription model; the first one when absent. */
    model: v.optional(v.string()),
  }),
  create: (supplied, { model: wanted }): Tool<typeof params> => ({
    name: 'transcribeAudioWithDiarization',
    description:
      'Writes down who says what, and when, in the first two hours of an audio or video file. Where the model does not tell speakers apart, they are guessed by pitch and timbre. The guess confuses voices that are alike and people who speak at once. `guess.confidence` then says how sure their number is, from 0.5 for a coin’s throw to 1.',
    kind: 'reads-file',
    takes: ['audio'],
    params,
    async run({ language }, signal, { bytes }) {
      signal.throwIfAborted()
      return (await transcribing()).transcribe(supplied, { wanted, language }, bytes, signal)
    },
  }),
})
