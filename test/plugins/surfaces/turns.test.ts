import t from 'tap'
import { liveRoutes } from '../../../plugins/surfaces/admin/live.ts'
import { modelRoutes } from '../../../plugins/surfaces/chat/models.ts'
import { fileRoutes } from '../../../plugins/surfaces/files/files.ts'
import { healthRoutes } from '../../../plugins/surfaces/docs/health.ts'
import { sealedRoutes } from '../../../plugins/surfaces/rvenc/sealed-inference.ts'
import { usable } from '../../../plugins/surfaces/shared/usable-models.ts'
import { turnsDuring } from '../../turns-during.ts'

const catalog = { list: async () => [] }
const enclave = { models: async () => [], keys: async () => ({}) }
const nothing = { processes: 1, stepMs: 1, from: 0, slots: [], sums: {}, marks: [], incidents: [] }
const traffic = { ask: async () => nothing }
const metrics = { told: async () => '', registry: { contentType: 'text/plain' } }
const wanted = { caller: { organization: 'o' }, query: {}, signal: new AbortController().signal } as never

const [clear] = modelRoutes
const sealed = sealedRoutes.find(({ path }) => path === '/rvenc/models')!

const listed = fileRoutes.find(({ method, path }) => method === 'GET' && path === '/files/encrypted')!
const fileStore = { list: async () => ({ rows: [], total: 0 }) }

const measured = healthRoutes.find(({ path }) => path === '/metrics')!
const [, told] = liveRoutes

/** What takes milliseconds to tell, and is the same for all who ask at once. */
const tellings: Readonly<Record<string, () => Promise<unknown>>> = {
  'models of the interface': async () => clear.handle(wanted, { catalog, rules: [] } as never),
  'models of all dialects': () => usable(wanted, { catalog, rules: [] } as never),
  'models of sealed calls': async () => sealed.handle(wanted, { enclave } as never),
  'stored files': async () => listed.handle(wanted, { fileStore, clock: Date } as never),
  metrics: async () => measured.handle(wanted, { metrics } as never),
  traffic: async () => told.handle(wanted, { traffic, settings: { operators: ['o'] } } as never),
}

for (const [name, tell] of Object.entries(tellings))
  t.test(`a turn of the loop tells this once: ${name}`, async (t) => {
    // The first telling may load code, which takes turns too.
    await tell()
    const turns = await turnsDuring(() => Promise.all(Array.from({ length: 16 }, tell)))
    t.ok(turns >= 15, `${turns} turns`)
  })
