import '../../../fakes/unwatched.ts'
import t from 'tap'
import type { Contents } from '../../../../core/ports/file-content.ts'
import { openCompound } from '../../../../plugins/readers/shared/compound.ts'
import slides from '../../../../plugins/readers/slides.ts'
import { compoundOf } from '../../../fakes/compound.ts'
import { file, made, soon, stored } from '../tried.ts'

const streams = async () => {
  const { stream } = openCompound((await stored('ppt/orchard.ppt')).bytes)
  const copy = (name: string) => Buffer.from(stream(name)!)
  return { user: copy('Current User'), document: copy('PowerPoint Document') }
}
const read = async (bytes: Uint8Array) =>
  (await made(slides).read(file('orchard.ppt', bytes), soon())).content as Contents['slides']
const together = (user: Uint8Array, document: Uint8Array) =>
  compoundOf({ 'Current User': user, 'PowerPoint Document': document })

t.test('a presentation of PowerPoint 2003 is read in order, with notes and hidden slides', async (t) => {
  const whole = await stored('ppt/orchard.ppt')
  t.equal(made(slides).fits({ ...whole, name: '' }), true)
  const [first, second, third] = (await read(whole.bytes)).slides
  t.match(first, { title: 'Der Obstgarten', text: 'Bäume pflanzen\nim Herbst\nBäume schneiden', hidden: false })
  t.match(first, { notes: 'Zuerst die Gäste begrüßen.' })
  t.match(second?.text, /Boskoop\n12,5\nIn der Gruppe\nEin Pfeil/)
  t.match(third, { text: 'Versteckt', hidden: true })
})

t.test('a presentation that is encrypted or broken is refused', async (t) => {
  const { user, document } = await streams()
  await t.rejects(read(together(user.subarray(0, 10), document)), { name: 'Unreadable' })
  await t.rejects(read(together(user, document.subarray(0, 2_000))), { name: 'Unreadable' }, 'half of it')
  const lost = Buffer.from(user)
  lost.writeUInt32LE(8, 16)
  await t.rejects(read(together(lost, document)), { name: 'Unreadable' }, 'no save where one should be')
  user.writeUInt32LE(0xf3d1c4df, 12)
  await t.rejects(read(together(user, document)), { name: 'Unreadable', validator: { password: String } })
})
