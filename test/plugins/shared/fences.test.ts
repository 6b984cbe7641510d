import t from 'tap'
import { fencesFor } from '../../../plugins/shared/fences.ts'
import { turnsDuring } from '../../turns-during.ts'

const skip = process.platform === 'linux' ? false : 'no fences here'

t.test(
  'others have their turn while fences are probed, which is done once for all who want them',
  { skip },
  async (t) => {
    const [one, other] = [fencesFor('/', process.execPath), fencesFor('/', process.execPath)]
    const turns = await turnsDuring(() => one)
    t.ok(turns >= 3, `${turns} turns`)
    t.equal(await one, await other)
  },
)

t.test('no fence holds that keeps a program from its own paths', { skip }, async (t) => {
  const { alone, offline, strangers } = await fencesFor('/there/is/no/such/path')
  t.same({ alone, offline, strangers }, { alone: false, offline: false, strangers: false })
})
