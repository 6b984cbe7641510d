import '../../fakes/unwatched.ts'
import t from 'tap'
import { Unavailable, Unreadable } from '../../../core/errors.ts'
import { uninstalled } from '../../../plugins/shared/optional-package.ts'
import { factsOf } from '../../../plugins/tools/imageDescribeAndCaptionFallback/recognise.ts'
import { findCodes } from '../../../plugins/tools/imageDescribeAndCaptionFallback/image-codes.ts'
import { findThings, searchPixels } from '../../../plugins/tools/imageDescribeAndCaptionFallback/image-objects.ts'
import { openImage } from '../../../plugins/shared/pictures/image.ts'
import { drawImage } from '../../../plugins/shared/pictures/raster-image.ts'
import imageDescribeAndCaptionFallback from '../../../plugins/tools/imageDescribeAndCaptionFallback.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { bytesOf, madeOf, opened, params, skip, toolOf } from './tried.ts'

const made = () => toolOf(imageDescribeAndCaptionFallback)
const fileOf = async (name: string) => opened(await bytesOf(`image/${name}`), 'some', 'image/png')
const run = async (name: string) => madeOf(made(), await fileOf(name))

t.test('contract', { skip }, async (t) => {
  const good = { params, file: await fileOf('black-on-transparent.png') }
  const bad = { params, file: opened(Buffer.from('words, not an image')) }
  await conform(t, tool.contract, () => ({ tool: made(), good, bad }))
})

t.test('recognises a thing in a photo, and where it is', { skip }, async (t) => {
  const { caption, objects, faces, codes, text, textConfidence, missing, facts, method } =
    await run('cup-of-coffee.jpg')
  t.equal(
    caption,
    'What looks like a photo in landscape format, mostly brown and black. Probably in it: cup. No text was read in it.',
  )
  t.same([objects.length, objects[0].label, text, method], [1, 'cup', null, 'offline'])
  t.same([textConfidence, missing], [null, undefined], 'a photograph has no script')
  t.same([faces, codes], [[], []])
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
  const { objects, faces } = await findThings(image, pixels, AbortSignal.timeout(30_000))
  t.same(
    objects.map(({ label }) => label),
    ['cat'],
  )
  t.same(faces, [], 'its face is not counted')
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

const laidOut = async (name: string) => openImage((await fileOf(name)).bytes)

t.test('counts faces, large and small', { skip }, async (t) => {
  const { caption, faces } = await run('astronaut.jpg')
  t.match(caption, / One face was found\. /)
  t.equal(faces.length, 1)
  const { x, y, width, height } = faces[0].box
  const [across, down] = [x + width / 2, y + height / 2]
  t.ok(Math.abs(across - 112) < 12 && Math.abs(down - 60) < 12, `around ${across}, ${down}`)
  const image = await laidOut('four-small-portraits.jpg')
  const pixels = await drawImage(image, { colours: 'rgb', longest: searchPixels }, AbortSignal.timeout(30_000))
  t.equal((await findThings(image, pixels, AbortSignal.timeout(30_000))).faces.length, 4)
})

t.test('reads the codes that other programs drew', { skip }, async (t) => {
  const told = async (name: string) =>
    (await findCodes(await laidOut(name), AbortSignal.timeout(30_000)))?.map(({ format, text }) => `${format} ${text}`)
  t.same(await told('qr-code-by-qrencode.png'), ['QR Code https://example.org/?a=Grüße'])
  t.same((await told('label-turned-and-noisy.jpg'))?.sort(), ['Code 128 SHELF-17', 'EAN-8 96385074', 'QR Code lantern'])
  const { caption, codes } = await run('ean-13-by-zint.png')
  t.match(caption, / Codes in it: EAN-13 “4006381333931”\. /)
  const { x, y, width, height } = codes[0].box
  t.ok(x >= 0 && y >= 0 && width > 50 && height >= 0, JSON.stringify(codes[0].box))
})

t.test(
  'says nothing of codes where their reader is missing or fails, and passes on what else goes wrong',
  { skip },
  async (t) => {
    const image = openImage((await fileOf('order.png')).bytes)
    const found = (error: unknown) => findCodes(image, AbortSignal.timeout(30_000), () => Promise.reject(error))
    t.equal(await found(uninstalled('zxing-wasm')), null)
    t.equal(await found(new Unreadable()), null)
    await t.rejects(found(new Unavailable()), Unavailable)
    t.match(uninstalled('zxing-wasm').validator, { 'zxing-wasm': /: npm i zxing-wasm@/ })
  },
)
