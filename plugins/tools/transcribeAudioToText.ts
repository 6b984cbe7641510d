import * as v from 'valibot'
import { firstItems, transcribeSound } from './shared/audio-transcript.ts'
import { workNeeds } from '../../core/inference/run-for-tool.ts'
import { truncatingReader } from './shared/truncate.ts'
import { pieceTranscriber } from './shared/transcribe-for-tool.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'
import { longestTranscript as most, transcriptionParams as params } from './shared/transcription.ts'

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
      const how = { granularities: ['segment'], ...(language !== undefined && { language }) } as const
      const { write, model } = pieceTranscriber(supplied, wanted, how)
      const { parts, duration, truncated } = await transcribeSound(bytes, write, signal)
      const segments = parts.flatMap((part) => part.segments)
      const kept = firstItems(segments, most)
      const { text, wasCut } = truncatingReader()
      const result = {
        text: text(parts.map((part) => part.text).join(' '), most.characters),
        language: parts.find((part) => part.language !== null)?.language ?? language ?? null,
        duration,
        segments: kept.map(({ start, end, text }) => ({ start, end, text })),
      }
      return { ...result, truncated: truncated || wasCut() || kept.length < segments.length, model: model() }
    },
  }),
})
