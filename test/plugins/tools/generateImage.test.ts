import t from 'tap'
import { Unconfigured, UpstreamFailed } from '../../../core/errors.ts'
import type { MadeFile } from '../../../core/ports/tool.ts'
import generateImage from '../../../plugins/tools/generateImage.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { atWork, jsonTake, modelOf, type AtWork } from '../../fakes/at-work.ts'
import type { Asked } from '../../fakes/recorded.ts'

const images = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  webp: 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==',
} as const

const draws =
  (kind: keyof typeof images = 'png') =>
  ({ body }: Asked) =>
    String(body).includes('forbidden')
      ? jsonTake({ error: { message: 'We do not draw what is forbidden' } }, 400)
      : jsonTake({ created: 1, data: [{ b64_json: images[kind] }] })

const drawing = modelOf('pencil', { type: 'IMAGE' })
const run = ({ tool }: AtWork, prompt: string): Promise<MadeFile> =>
  tool.kind === 'makes-file' ? tool.run({ prompt }, AbortSignal.timeout(5000)) : Promise.reject(new Error(tool.kind))

t.test('contract', (t) =>
  conform(t, tool.contract, async (t) => ({
    tool: (await atWork(t, generateImage, drawing, draws())).tool,
    good: { params: { prompt: 'A lighthouse at dusk' } },
    bad: { params: { prompt: 'something forbidden' } },
  })),
)

t.test('the image is drawn, and its name fits its type', async (t) => {
  const tool = await atWork(t, generateImage, drawing, draws())
  const made = await run(tool, 'A lighthouse at dusk')
  t.match(made, { name: 'image.png', mime: 'image/png' })
  t.equal(Buffer.from(made.bytes).toString('base64'), images.png, 'byte by byte')
  t.equal(tool.asked[0]!.path, '/images/generations')
  t.same(JSON.parse(String(tool.asked[0]!.body)), { model: 'its-pencil', prompt: 'A lighthouse at dusk' })

  const models = { ...drawing, ...modelOf('brush', { type: 'IMAGE' }) }
  const other = await atWork(t, generateImage, models, draws('webp'), { model: 'brush', size: '512x512' })
  t.match(await run(other, 'A cat'), { name: 'image.webp', mime: 'image/webp' })
  t.match(JSON.parse(String(other.asked[0]!.body)), { model: 'its-brush', size: '512x512' })
})

t.test('without a model, without an image', async (t) => {
  const none = await run(await atWork(t, generateImage, modelOf('talk'), draws()), 'A cat').catch(
    (error: unknown) => error,
  )
  t.ok(none instanceof Unconfigured, 'no model draws')
  t.match(none, { validator: { models: 'Expected an image model' } })
  const empty = await atWork(t, generateImage, drawing, () => jsonTake({ created: 1, data: [] }))
  t.ok((await run(empty, 'A cat').catch((error: unknown) => error)) instanceof UpstreamFailed, 'nothing came back')
})
