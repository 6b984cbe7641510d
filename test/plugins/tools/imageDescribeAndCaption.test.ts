import '../../fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { Unconfigured, Unreadable, UpstreamFailed } from '../../../core/errors.ts'
import { imageHeadOf } from '../../../plugins/shared/image-heads.ts'
import imageDescribeAndCaption from '../../../plugins/tools/imageDescribeAndCaption.ts'
import type { OpenFile } from '../../../core/ports/tool.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { atWork, jsonTake, modelOf, said, type AtWork } from '../../fakes/at-work.ts'
import { bytesOf, madeOf, opened, params, skip } from './tried.ts'
import { withoutPrograms } from '../../helpers.ts'

const run = promisify(execFile)

const seeing = modelOf('eyes', { input_modalities: ['text', 'image'] })
const answer = {
  caption: 'A cup of coffee.',
  description: 'A white cup stands on a wooden table. Steam rises.',
  objects: ['cup', 'table'],
  text: 'OPEN\n9 to 5',
}
const fileOf = async (name: string) => opened(await bytesOf(`image/${name}`))

const look = ({ tool }: AtWork, file: OpenFile) => madeOf(tool, file)

/** What the backend was shown with its last request. */
const shown = ({ asked: requests }: AtWork) => {
  const body = JSON.parse(String(requests.at(-1)!.body))
  const [instruction, picture] = body.messages[0].content
  const [, mime, base64] = /^data:([^;]+);base64,(.+)$/.exec(picture.image_url.url)!
  const bytes = Buffer.from(base64!, 'base64')
  return { body, instruction, mime, bytes, head: imageHeadOf(bytes) }
}

t.test('contract', async (t) => {
  const good = { params, file: await fileOf('cup-of-coffee.jpg') }
  const bad = { params, file: opened(Buffer.from('words, not an image')) }
  await conform(t, tool.contract, async (t) => ({
    tool: (await atWork(t, imageDescribeAndCaption, seeing, () => said(JSON.stringify(answer)))).tool,
    good,
    bad,
  }))
})

t.test('shows a model that sees the image as it is, and gives its answer', async (t) => {
  const models = { ...modelOf('blind'), ...seeing }
  const tool = await atWork(t, imageDescribeAndCaption, models, () => said(JSON.stringify(answer)))
  const file = await fileOf('cup-of-coffee.jpg')
  t.same(await look(tool, file), { ...answer, model: 'eyes', truncated: false })
  const { body, instruction, mime, bytes } = shown(tool)
  t.equal(body.model, 'its-eyes')
  t.match(instruction, { type: 'text', text: /JSON/ })
  t.equal(mime, 'image/jpeg', 'told by its bytes')
  t.ok(bytes.equals(file.bytes), 'byte by byte')
  t.match(body.response_format, { type: 'json_schema', json_schema: { strict: true } })
  t.same(body.response_format.json_schema.schema.required, ['caption', 'description', 'objects', 'text'])
  for (const [name, type] of [
    ['order.png', 'png'],
    ['order.gif', 'gif'],
    ['cat.webp', 'webp'],
  ] as const) {
    await look(tool, await fileOf(name))
    t.equal(shown(tool).mime, `image/${type}`)
  }
})

t.test('other kinds, turned and large ones become a JPEG', { skip }, async (t) => {
  const tool = await atWork(t, imageDescribeAndCaption, seeing, () => said(JSON.stringify(answer)))
  const drawn = async (kind: string, size: string, ...more: readonly string[]) => {
    const path = join(t.testdir(), `drawn.${kind}`)
    await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', `testsrc=s=${size}`, '-frames:v', '1', ...more, path])
    return opened(await readFile(path))
  }
  const became = async (file: ReturnType<typeof opened>) => {
    await look(tool, file)
    const { mime, head } = shown(tool)
    t.equal(mime, 'image/jpeg')
    t.equal(head?.format, 'jpeg')
    return [head!.width, head!.height]
  }
  const bmp = await fileOf('order.bmp')
  const { width, height } = imageHeadOf(bmp.bytes)!
  t.same(await became(bmp), [width, height])
  const turned = await fileOf('order-turned-by-exif.jpg')
  const stored = imageHeadOf(turned.bytes)!
  t.ok(stored.orientation > 4, 'lies on its side')
  t.same(await became(turned), [stored.height, stored.width])
  t.same(await became(await drawn('tiff', '300x200')), [300, 200])
  t.same(await became(await drawn('png', '4000x1000')), [2048, 512])
  const large = await drawn('jpeg', '3000x1000')
  t.same(await became(large), [2048, 683])
  t.same(await became(await drawn('avif', '640x480', '-c:v', 'libaom-av1', '-still-picture', '1')), [640, 480])
  withoutPrograms(t)
  await look(tool, large)
  t.ok(shown(tool).bytes.equals(large.bytes), 'as it is, where nobody can make it smaller')
  t.match(await look(tool, bmp).catch((error: unknown) => error), { validator: { ffmpeg: 'Expected to be installed' } })
})

t.test('answers that are not quite JSON', async (t) => {
  const answers = (content: string) => atWork(t, imageDescribeAndCaption, seeing, () => said(content))
  const file = await fileOf('cup-of-coffee.jpg')
  const fenced = `<think>A {cup}?</think>Here it is:\n\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\`\nAnything else?`
  t.same(await look(await answers(fenced), file), { ...answer, model: 'eyes', truncated: false })
  t.same(await look(await answers('A cup stands there. It is white.'), file), {
    caption: 'A cup stands there.',
    description: 'A cup stands there. It is white.',
    objects: [],
    text: '',
    model: 'eyes',
    truncated: false,
  })
  const odd = { caption: 7, description: 'Fine.', objects: ['cup', null, ' '], text: 'x'.repeat(30_000) }
  const { text, ...rest } = await look(await answers(JSON.stringify(odd)), file)
  t.same(rest, { caption: 'Fine.', description: 'Fine.', objects: ['cup'], model: 'eyes', truncated: true })
  t.equal(text.length, 20_000)
  for (const half of ['', '{"caption": "A cup', '```json\n{"caption":'])
    t.ok((await look(await answers(half), file).catch((error: unknown) => error)) instanceof UpstreamFailed, half)
})

t.test('a server that does not know the field is asked without it', async (t) => {
  const tool = await atWork(t, imageDescribeAndCaption, seeing, ({ body }) =>
    String(body).includes('response_format') ? jsonTake({ error: {} }, 400) : said(JSON.stringify(answer)),
  )
  t.match(await look(tool, await fileOf('cup-of-coffee.jpg')), answer)
  t.equal(tool.asked.length, 2)
})

t.test('no model is asked about a file that is too large, or when no model sees', async (t) => {
  const tool = await atWork(t, imageDescribeAndCaption, seeing, () => said(JSON.stringify(answer)))
  const fault = (file: ReturnType<typeof opened>, by = tool) => look(by, file).catch((error: unknown) => error)
  const huge = Buffer.from((await fileOf('order.png')).bytes)
  huge.writeUInt32BE(8000, 16)
  huge.writeUInt32BE(5001, 20)
  t.ok((await fault(opened(huge))) instanceof Unreadable, 'more than 40 megapixels')
  const padded = Buffer.concat([(await fileOf('order.png')).bytes, Buffer.alloc(20 * 1024 * 1024)])
  t.ok((await fault(opened(padded))) instanceof Unreadable, 'more than 20 MiB')
  t.equal(tool.asked.length, 0)
  const blind = await atWork(t, imageDescribeAndCaption, modelOf('blind'), () => said('?'))
  t.ok((await fault(await fileOf('cup-of-coffee.jpg'), blind)) instanceof Unconfigured, 'no model that sees')
})
