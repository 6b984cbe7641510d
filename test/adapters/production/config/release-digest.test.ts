import '../../../fakes/unwatched.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkedConfig } from '../../../../adapters/production/config/config.ts'
import { enclaveClient } from '../../../../adapters/production/enclave/enclave-client.ts'
import { releaseDigest } from '../../../../adapters/production/config/release-digest.ts'
import { variablesIn } from '../../../../adapters/production/config/variables.ts'
import { fromHex, toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { parseKeyset } from '../../../../plugins/sealed/wire/keyset.ts'
import { enclosed } from '../../../fakes/served.ts'
import { folderOf } from '../../../helpers.ts'

const house = { use: 'openai', baseUrl: 'https://a.example/v1', apiKey: '$HOUSE_KEY', headers: { 'x-team': '$TEAM' } }
const written = {
  models: { small: { confidential: true, upstreams: [{ provider: 'house', model: 'm' }] } },
  providers: { house },
  tools: { webSearchTool: { provider: 'brave', apiKey: '$SEARCH_KEY' }, getTime: {} },
}
const env = { HOUSE_KEY: 'one', TEAM: 'one', SEARCH_KEY: 'one' }

const digest = async (written: object, env: Readonly<Record<string, string>>, options: readonly string[] = []) => {
  const start = { written, options, arguments: ['enclave'], variables: variablesIn(written) }
  return toHex(await releaseDigest(checkedConfig(written, { ...env }), start))
}

t.test('the digest covers the code and no secret', async (t) => {
  const first = await digest(written, env)
  t.equal(await digest(written, env), first)
  t.equal(await digest(written, { ...env, HOUSE_KEY: 'two' }), first, 'not the key of a provider')
  t.equal(await digest(written, { ...env, SEARCH_KEY: 'two' }), first, 'not the key of a tool')
  t.equal(await digest(written, { ...env, TEAM: 'two' }), first, 'not a header')
  t.equal(await digest(written, { ...env, OTHER: 'three' }), first, 'nothing that the configuration does not name')

  const literal = (apiKey: string, team: string) => ({
    ...written,
    providers: { house: { ...house, apiKey, headers: { 'x-team': team } } },
  })
  const plain = await digest(literal('one', 'one'), env)
  t.equal(await digest(literal('two', 'one'), env), plain, 'not a key that is written down')
  t.equal(await digest(literal('one', 'two'), env), plain, 'nor a header that is')
  t.not(plain, first, 'but whether a variable gives it')

  const other = (own: object) =>
    digest({ ...written, ...own }, { ...env, OTHER_KEY: 'one', PLACE: 'https://b.example' })
  const changes: Readonly<Record<string, Promise<string>>> = {
    'an option of Node': digest(written, env, ['--max-old-space-size=2048']),
    'the name of a variable': other({ providers: { house: { ...house, apiKey: '$OTHER_KEY' } } }),
    'a host': other({ providers: { house: { ...house, baseUrl: 'https://b.example/v1' } } }),
    'a path of the same host': other({ providers: { house: { ...house, baseUrl: 'https://a.example/v2' } } }),
    'the name of a header': other({ providers: { house: { ...house, headers: { 'x-other': '$TEAM' } } } }),
    'a tool': other({ tools: { ...written.tools, getPDFContent: {} } }),
    'a setting of a tool': other({
      tools: { ...written.tools, webSearchTool: { provider: 'x', apiKey: '$SEARCH_KEY' } },
    }),
    'a model': other({ models: { large: written.models.small } }),
    'a timeout': other({ timeouts: { total: 1_000 } }),
  }
  const seen = new Set([first])
  for (const [name, changed] of Object.entries(changes)) {
    t.notOk(seen.has(await changed), name)
    seen.add(await changed)
  }
  const placed = { ...written, providers: { house: { ...house, baseUrl: '$PLACE' } } }
  t.equal(
    await digest(placed, { ...env, PLACE: 'https://a.example/v1' }),
    await digest(placed, { ...env, PLACE: 'https://a.example/v2' }),
  )
  t.not(
    await digest(placed, { ...env, PLACE: 'https://a.example' }),
    await digest(placed, { ...env, PLACE: 'https://b.example' }),
    'the host that is spoken to counts, whatever names it',
  )
})

t.test('two machines give the same digest', async (t) => {
  const published = async (t: Test, own: Readonly<Record<string, string>>, options: readonly string[] = []) => {
    const folder = await folderOf(t)
    const file = join(folder, 'enclave.json')
    const listen = join(folder, 'it.sock')
    await writeFile(file, JSON.stringify({ ...written, enclave: { listen } }))
    const child = await enclosed({ ...env, ...own, SEALGATE_CONFIG: file }, null, options)
    t.teardown(() => child.kill('SIGKILL'))
    const line = enclaveClient(listen, null)
    const { keyset } = await line.keys()
    await line.dispose?.()
    return toHex(parseKeyset(fromHex(keyset, 1 << 20)!)!.releaseDigest)
  }
  const first = await published(t, {})
  t.equal(first, await digest(written, env), 'the one that is published with the keys')
  t.equal(await published(t, { HOUSE_KEY: 'two', HOSTNAME: 'other', TZ: 'Asia/Tokyo', NODE_ENV: 'production' }), first)
  t.not(await published(t, {}, ['--max-old-space-size=1024']), first)
})
