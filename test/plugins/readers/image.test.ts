import t from 'tap'
import { Unconfigured } from '../../../core/errors.ts'
import image from '../../../plugins/readers/image.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { file, made, soon, stored } from './tried.ts'
import { withoutPrograms } from '../../helpers.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('image/order.png'), says: 'forty lanterns' }
  const broken = file('secret.png', Buffer.from('89504e470d0a1a0a', 'hex'))
  const foreign = file('plan.txt', 'words')
  await conform(t, reader.contract, () => ({ reader: made(image), good, broken, foreign }))
})

t.test('without OCR an image has no text, and a look at it is Unconfigured', async (t) => {
  withoutPrograms(t)
  const reader = made(image)
  const picture = await stored('image/order.webp')
  t.same(await reader.read(picture, soon()), { content: { pages: [], truncated: true }, sections: [] })
  await t.rejects(reader.see!(picture, 1, soon()), Unconfigured)
})
