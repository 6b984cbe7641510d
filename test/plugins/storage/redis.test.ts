import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { clock, log } from '../../../adapters/production/host.ts'
import { use } from '../../../core/plugin.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import redis from '../../../plugins/storage/redis.ts'
import { conform } from '../../contracts/contract.ts'
import { metadataStore } from '../../contracts/metadata-store.ts'
import { startRedis } from '../../fakes/redis.ts'
import { fitted } from '../../helpers.ts'
const server = await startRedis()
t.teardown(() => server?.close())
const skip = server ? {} : { skip: 'no redis-server here' }
const at = (t: Test, settings: object = {}) => {
  const prefix = `t${randomBytes(6).toString('hex')}`
  const container = fitted(use(clock), use(log, { level: 'info' }), use(redis, { url: server!.url, prefix, ...settings }))
  t.teardown(() => container.dispose())
  return { store: container.supply({ it: MetadataStore }).it, prefix }
}
t.test('contract', skip, (t) => conform(t, metadataStore.contract, (t) => at(t).store))
