import * as v from 'valibot'
import { writeDown } from '../../core/extract/audio-transcript.ts'
import type { Candidate } from '../../core/inference/catalog.ts'
import { employ, workNeeds } from '../../core/inference/employ.ts'
import { excerpting } from '../../core/inference/excerpt.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({
  fileId: v.pipe(v.string(), v.maxLength(200)),
  language: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$/), v.maxLength(35))),
})

/** Two hours of hurried speech are less. */
const most = { characters: 400_000, segments: 10_000, segment: 20_000 }

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
    description: 'Writes down what is said in the first two hours of an audio or video file, and when it is said.',
    kind: 'reads-file',
    params,
    async run({ language }, signal, { bytes }) {
      signal.throwIfAborted()
      const { parts, duration, truncated } = await writeDown(bytes, listen, signal)
    },
  }),
})
