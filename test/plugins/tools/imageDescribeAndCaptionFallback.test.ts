import '../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { factsOf } from '../../../plugins/tools/imageDescribeAndCaptionFallback/image-facts.ts'
import { findObjects, searchPixels } from '../../../plugins/tools/imageDescribeAndCaptionFallback/image-objects.ts'
import { openImage } from '../../../plugins/shared/pictures/image.ts'
import { drawImage } from '../../../plugins/shared/pictures/raster-image.ts'
import { use } from '../../../core/plugin.ts'
import { Tool } from '../../../core/ports/tool.ts'
import imageDescribeAndCaptionFallback from '../../../plugins/tools/imageDescribeAndCaptionFallback.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted } from '../../fitted.ts'

const skip = spawnSync('ffmpeg', ['-version']).status === 0 ? false : 'no ffmpeg here'

const made = () => fitted(use(imageDescribeAndCaptionFallback)).supply({ tools: Tool }).tools[0]!
const opened = (bytes: Uint8Array) => ({ id: 'file_1', name: 'some', mime: 'image/png', bytes })
const fileOf = async (name: string) => opened(new Uint8Array(await readFile(`test/vectors/files/image/${name}`)))
const params = { fileId: 'file_1' }
const run = async (name: string): Promise<any> => {
  const it = made()
  if (it.kind !== 'reads-file') throw new Error('It reads no file')
  return it.run(params, AbortSignal.timeout(60_000), await fileOf(name))
}

t.test('contract', { skip }, async (t) => {
  const good = { params, file: await fileOf('black-on-transparent.png') }
  const bad = { params, file: opened(Buffer.from('words, not an image')) }
  await conform(t, tool.contract, () => ({ tool: made(), good, bad }))
})

t.test('recognises a thing in a photo, and where it is', { skip }, async (t) => {
  const { caption, objects, text, textConfidence, missing, facts, method } = await run('cup-of-coffee.jpg')
  t.equal(
    caption,
    'What looks like a photo in landscape format, mostly brown and black. Probably in it: cup. No text was read in it.',
  )
  t.same([objects.length, objects[0].label, text, method], [1, 'cup', null, 'offline'])
  t.same([textConfidence, missing], [null, undefined], 'a photograph has no script')
  const { x, y, width, height } = objects[0].box
  t.ok(objects[0].score > 0.45 && objects[0].score <= 1, `${objects[0].score}`)
  t.ok(
    Math.abs(x + width / 2 - 235) < 25 && Math.abs(y + height / 2 - 110) < 25,
    `around ${JSON.stringify(objects[0].box)}`,
  )
  t.match(facts, { format: 'jpeg', width: 480, height: 320, shape: 'landscape', kind: 'photo' })
})

t.test('knows a cat', { skip }, async (t) => {
  const image = openImage((await fileOf('cat.webp')).bytes)
  const pixels = await drawImage(image, { colours: 'rgb', longest: searchPixels }, AbortSignal.timeout(30_000))
  const objects = await findObjects(image, pixels, AbortSignal.timeout(30_000))
  t.same(
    objects.map(({ label }) => label),
    ['cat'],
  )
  t.match(factsOf(pixels), { kind: 'photo', colours: [{ name: 'brown' }] })
})

t.test('says of words on paper that they are words', { skip }, async (t) => {
  const { caption, objects, text, textConfidence, facts } = await run('order.gif')
  t.match(
    caption,
    /^What looks like a drawing .*, bright, mostly white\. No object was recognised in it\. Text in it: “Order 5521 Please send/,
  )
  t.match(text, /^Order 5521\nPlease send forty lanterns and nine coils of rope to the\n/)
  t.ok(textConfidence > 0.7 && textConfidence <= 1, `sure by ${textConfidence}`)
  t.same([objects, facts.kind], [[], 'drawing'])
  t.match(facts.colours, [{ name: 'white' }])
})
