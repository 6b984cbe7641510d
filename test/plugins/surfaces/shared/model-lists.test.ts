import t from 'tap'
import { modelRoutes } from '../../../../plugins/surfaces/chat/models.ts'
import { sealedRoutes } from '../../../../plugins/surfaces/rvenc/sealed-inference.ts'
import { usable } from '../../../../plugins/surfaces/shared/usable-models.ts'

const catalog = { list: async () => [] }
const enclave = { models: async () => [], keys: async () => ({}) }
const wanted = { caller: {}, query: {}, signal: new AbortController().signal } as never

const [clear] = modelRoutes
const sealed = sealedRoutes.find(({ path }) => path === '/rvenc/models')!

/** Each list of models that a caller gets. */
const lists: Readonly<Record<string, () => Promise<unknown>>> = {
  'the interface': async () => clear.handle(wanted, { catalog } as never),
  'all dialects': () => usable(wanted, { catalog, rules: [] } as never),
  'sealed calls': async () => sealed.handle(wanted, { enclave } as never),
}

for (const [name, list] of Object.entries(lists))
  t.test(`a turn of the loop makes one list of models: ${name}`, async (t) => {
    let [turns, goes] = [0, true]
    const turn = (): void => {
      turns++
      if (goes) setImmediate(turn)
    }
    setImmediate(turn)
    await Promise.all(Array.from({ length: 16 }, list))
    goes = false
    t.ok(turns >= 15, `${turns} turns`)
  })
