import * as v from 'valibot'
import { UpstreamFailed } from '../../core/errors.ts'
import { workNeeds } from '../shared/work-needs.ts'
import { tokensOf } from '../../core/inference/metering/tokens.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const working = lazy(() => import('../shared/run-for-tool.ts'))

const params = v.object({ prompt: v.pipe(v.string(), v.minLength(1), v.maxLength(4_000)) })

export default plugin({
  port: Tool,
  name: 'generateImage',
  needs: workNeeds,
  settings: v.strictObject({
    /** The image model; the first one when absent. */
    model: v.optional(v.string()),
    /** Width and height in the model's form, such as `1024x1024`. */
    size: v.optional(v.string()),
  }),
  create: (supplied, { model, size }): Tool<typeof params> => ({
    name: 'generateImage',
    description: 'Draws an image from a description of at most 4,000 characters; the result is an image file.',
    kind: 'makes-file',
    makes: 'image',
    takes: ['tokens'],
    params,
    mostParams: 32 * 1024,
    async run({ prompt }, signal) {
      signal.throwIfAborted()
      const { runForTool } = await working()
      const { answer } = await runForTool(
        supplied,
        { ability: 'draw', model },
        async ({ upstream, model }, signal) => {
          const [image] = await upstream.draw({ model, prompt, ...(size !== undefined && { size }) }, signal)
          if (!image || image.bytes.length === 0)
            throw new UpstreamFailed('The model returned no image', { again: true })
          return image
        },
        () => ({ usage: { input: tokensOf(prompt), output: 0, estimated: true } }),
        signal,
      )
      const { mime, bytes } = answer
      return { name: `image.${endings[mime] ?? 'png'}`, mime, bytes }
    },
  }),
})

/** PNG is the form of all others. */
const endings: Readonly<Record<string, string>> = { 'image/jpeg': 'jpg', 'image/webp': 'webp', 'image/gif': 'gif' }
