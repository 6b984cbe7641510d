import t from 'tap'
import { checkedConfig } from '../../../../adapters/production/config/config.ts'
import { production } from '../../../../adapters/production/index.ts'
import { ownProviders } from '../../../../adapters/production/screen/own-address.ts'
import { drawnScreen } from '../../../../adapters/production/screen/show.ts'
import { backend } from '../../../contracts/stage.ts'
import { running } from '../../../environments.ts'

t.test('a provider at the gateway’s own address and port is one that calls the gateway', (t) => {
  const rows: readonly (readonly [own: string, baseUrl: unknown, isOwn: boolean])[] = [
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787/v1', true],
    ['http://127.0.0.1:8787', 'http://localhost:8787/v1', true],
    ['http://[::1]:8787', 'http://LOCALHOST:8787', true],
    ['http://0.0.0.0:8787', 'http://127.0.0.2:8787/v1', true],
    ['http://0.0.0.0:8787', 'http://localhost:8787/v1', true],
    ['http://[::]:8787', 'http://127.0.0.1:8787/v1', true],
    ['http://[::]:8787', 'http://[::1]:8787/v1', true],
    ['http://10.0.0.5:8787', 'http://10.0.0.5:8787/v1', true],
    ['http://127.0.0.1:80', 'http://127.0.0.1/v1', true],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8788/v1', false],
    ['http://127.0.0.1:8787', 'http://127.0.0.2:8787/v1', false],
    ['http://0.0.0.0:8787', 'http://[::1]:8787/v1', false],
    ['http://10.0.0.5:8787', 'http://localhost:8787/v1', false],
    ['http://[::]:8787', 'http://inner.example:8787/v1', false],
    ['http://127.0.0.1:8787', 'https://127.0.0.1:8787/v1', false],
    ['http://127.0.0.1:8787', 'no address', false],
    ['http://127.0.0.1:8787', undefined, false],
  ]
  for (const [own, baseUrl, isOwn] of rows)
    t.same(ownProviders({ inner: { use: 'openai', baseUrl } }, own), isOwn ? ['inner'] : [], `${own} ${baseUrl}`)
  t.end()
})

t.test('the first lines and the log name a provider that is the gateway itself', async (t) => {
  const list = JSON.stringify({ data: [{ id: 'talk' }] })
  const [itself, other] = await Promise.all([1, 2].map(() => backend(t, () => ({ body: list }))))
  const at = (url: string) => ({ use: 'openai', baseUrl: `${url}/v1`, apiKey: 'k' })
  const providers = { round: at(itself!.url), other: at(other!.url) }
  const config = checkedConfig({ log: { level: 'silent' }, providers, enclave: null }, {})
  const { gateway, logged } = await running(t, await production(config, t.testdir()))
  const origin = { env: {}, config, surfaces: gateway.surfaces, data: '/srv', url: itself!.url }
  const lines = await drawnScreen(origin, gateway, null, false)
  t.match(lines, /✗ round: it is this gateway itself, so its calls come back; mend baseUrl\n/)
  t.match(lines, /✓ other: 1 model\n/)
  const events = logged.filter(({ event }) => event === 'provider.itself')
  t.same(events.map(({ facts }) => facts), [{ provider: 'round' }]) // prettier-ignore
})
