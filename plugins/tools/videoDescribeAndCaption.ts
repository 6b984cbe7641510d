import * as v from 'valibot'
import { workNeeds } from '../shared/work-needs.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const describing = lazy(() => import('./videoDescribeAndCaption/describe.ts'))

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(200), v.description('The id of an uploaded file')) })

const settings = v.strictObject({
  /** A chat model that takes images; the first one when absent. */
  model: v.optional(v.string()),
  /** The transcription model; the first one when absent. */
  transcriber: v.optional(v.string()),
})

export default plugin({
  port: Tool,
  name: 'videoDescribeAndCaption',
  needs: workNeeds,
  settings,
  create: (supplied, wish): Tool<typeof params> => ({
    name: 'videoDescribeAndCaption',
    description: 'A caption and a description of a video, its scenes, and what is said in its first ten minutes.',
    kind: 'reads-file',
    takes: ['tokens', 'audio'],
    params,
    async run(_params, signal, { bytes }) {
      signal.throwIfAborted()
      return (await describing()).describeVideo(supplied, wish, bytes, signal)
    },
  }),
})
