import * as v from 'valibot'
import { lazy, plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const recognition = lazy(() => import('./imageDescribeAndCaptionFallback/recognise.ts'))

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(200), v.description('The id of an uploaded file')) })

export default plugin({
  port: Tool,
  name: 'imageDescribeAndCaptionFallback',
  create: (): Tool<typeof params> => ({
    name: 'imageDescribeAndCaptionFallback',
    description:
      'Recognises parts of an image without a language model: known objects, faces, QR codes and barcodes, colours, and text with its confidence. `codes` is null where their reader is not installed.',
    kind: 'reads-file',
    params,
    async run(_params, signal, { bytes }) {
      signal.throwIfAborted()
      return (await recognition()).recognise(bytes, signal)
    },
  }),
})
