import * as v from 'valibot'
import { workNeeds } from '../shared/work-needs.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const describing = lazy(() => import('./imageDescribeAndCaption/describe.ts'))

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(200), v.description('The id of an uploaded file')) })

export default plugin({
  port: Tool,
  name: 'imageDescribeAndCaption',
  needs: workNeeds,
  settings: v.strictObject({
    /** A chat model that takes images; the first one when absent. */
    model: v.optional(v.string()),
  }),
  create: (supplied, { model: wanted }): Tool<typeof params> => ({
    name: 'imageDescribeAndCaption',
    description: 'A caption and a description of an image, the objects in it and its text, by a model that sees.',
    kind: 'reads-file',
    takes: ['tokens'],
    params,
    async run(_params, signal, { bytes }) {
      signal.throwIfAborted()
      return (await describing()).describeImage(supplied, wanted, bytes, signal)
    },
  }),
})
