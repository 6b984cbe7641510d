import * as v from 'valibot'
import { workNeeds } from '../shared/work-needs.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'
import { transcriptionParams as params } from './shared/transcription.ts'

const transcribing = lazy(() => import('./transcribeAudioToText/transcribe.ts'))

export default plugin({
  port: Tool,
  name: 'transcribeAudioToText',
  needs: workNeeds,
  settings: v.strictObject({
    /** A transcription model; the first one when absent. */
    model: v.optional(v.string()),
  }),
  create: (supplied, { model: wanted }): Tool<typeof params> => ({
    name: 'transcribeAudioToText',
    description: 'Writes down what is said, and when, in the first two hours of an audio or video file.',
    kind: 'reads-file',
    takes: ['audio'],
    params,
    async run({ language }, signal, { bytes }) {
      signal.throwIfAborted()
      return (await transcribing()).transcribe(supplied, { wanted, language }, bytes, signal)
    },
  }),
})
