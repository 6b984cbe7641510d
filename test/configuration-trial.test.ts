import './fakes/unwatched.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bootGateway } from '../adapters/production/commands/boot-gateway.ts'
import type { NewKey } from '../core/access/keyring.ts'
import { scripted } from './fakes/scripted.ts'
import { backend } from './contracts/stage.ts'

const path = '/admin/configuration/try'
const typed = 'sk-typed-for-the-trial'

/** A gateway that reads a file, and two backends: the file names the first alone. */
const house = async (t: Test, opens = true) => {
  const answer = scripted(() => [{ say: 'yes' }])
  const own = await backend(t, answer)
  const fresh = await backend(t, (request) =>
    request.headers.authorization === `Bearer ${typed}` ? answer(request) : { status: 401, body: '{}' },
  )
  const folder = t.testdir()
  const file = join(folder, 'sealgate.json')
  const config = {
    providers: { house: { use: 'openai', baseUrl: `${own.url}/v1`, apiKey: '$HOUSE_KEY' } },
    models: { small: { upstreams: [{ provider: 'house' }] } },
    enclave: null,
    ...(opens && { outside: { allow: ['127.0.0.1'], ports: [Number(new URL(fresh.url).port)] } }),
  }
  await writeFile(file, JSON.stringify(config))
  const { gateway } = await bootGateway({
    ...{ SEALGATE_CONFIG: file, SEALGATE_DATA: join(folder, 'data'), SEALGATE_LOG: 'silent' },
    ...{ HOUSE_KEY: 'sk-of-the-house', OTHER_KEY: 'sk-of-another' },
  })
  t.teardown(() => gateway.close())
  const ask = async (body: object, key: NewKey = {}) => {
    const { credential } = await gateway.keys.create(key)
    const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' }
    const answer = await gateway.fetch(
      new Request(`http://gateway${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
    )
    const text = await answer.text()
    return { status: answer.status, text, json: JSON.parse(text) }
  }
  const chats = ({ asked: requests }: typeof own) => requests.filter(({ path }) => path.endsWith('/chat/completions'))
  return { own, fresh, ask, chats }
}

const tried = (url: string) => ({
  providers: { fresh: { use: 'openai', baseUrl: `${url}/v1`, apiKey: '$FRESH_KEY' } },
  models: { large: { upstreams: [{ provider: 'fresh', model: 'own' }] } },
  call: 'large',
})

t.test('a new backend, model and guard are tried with a true call, and nothing stays', async (t) => {
  const { own, fresh, ask, chats } = await house(t)
  const body = { ...tried(fresh.url), guards: { redact: {} }, secrets: { FRESH_KEY: typed } }
  const { status, text, json } = await ask(body)
  t.equal(status, 200)
  t.match(json.data, { faults: [], call: { model: 'large', status: 200, fault: null } })
  t.equal(chats(fresh).length, 1)
  t.match(JSON.parse(chats(fresh)[0]!.body.toString()), { model: 'own' })
  const paths = json.data.changes.map((change: { path: string[] }) => change.path.join('/'))
  for (const added of ['providers/fresh/use', 'providers/fresh/apiKey', 'models/large/upstreams/0/provider'])
    t.ok(paths.includes(added), added)
  t.notOk(text.includes(typed), 'the secret is not read back')
  const again = await ask({ call: 'large' })
  t.equal(again.status, 400, 'the trial is over')
  const wrong = await ask({ ...body, secrets: { FRESH_KEY: 'sk-mistyped' } })
  t.match(wrong.json.data, { faults: [], call: { status: 502 } }, 'a key that the backend refuses')
  t.notMatch(wrong.text, /mistyped/)
  t.match((await ask({ call: 'small' })).json.data, { call: { status: 200 } }, 'a model of the file')
  t.equal(chats(own)[0]?.headers.authorization, 'Bearer sk-of-the-house')
  t.match((await ask({ guards: { redact: { kinds: ['nothing'] } } })).json.data, {
    faults: [/guards\.redact/],
    call: null,
  })
})

t.test('no variable of the gateway goes to an address of a trial', async (t) => {
  const { fresh, ask } = await house(t)
  const body = tried(fresh.url)
  const provider = body.providers.fresh
  for (const name of ['HOUSE_KEY', 'OTHER_KEY'])
    t.equal((await ask({ ...body, providers: { fresh: { ...provider, apiKey: `$${name}` } } })).status, 400, name)
  const providers = { house: { ...provider, apiKey: '$HOUSE_KEY' } }
  const moved = await ask({ ...body, providers, models: { large: { upstreams: [{ provider: 'house' }] } } })
  t.equal(moved.status, 400, 'nor by the name that the file has')
  t.equal(fresh.asked.length, 0)
  for (const wrong of [
    { providers: { fresh: { ...provider, apiKey: 'sk-spelled-out' } } },
    { providers: { fresh: { ...provider, baseUrl: '$HOUSE_KEY' } } },
    { providers: { fresh: { ...provider, headers: { 'x-key': '$HOUSE_KEY' } } } },
    { providers: { fresh: { use: 'vertex', credentials: '/etc/passwd' } } },
    { providers: { fresh: { use: './plugin.js' } } },
    { guards: { words: { lists: { a: { words: ['$HOUSE_KEY'] } } } } },
    { guards: { './guard.js': {} } },
    { secrets: { 'a.b': 'c' } },
  ])
    t.equal((await ask(wrong)).status, 400, JSON.stringify(wrong))
})

t.test('a trial takes 256 models, backends and settings of a guard', async (t) => {
  const { ask } = await house(t)
  const many = (count: number, part: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, part]))
  const parts = (count: number) => [
    { models: many(count, { upstreams: [{ provider: 'house' }] }) },
    { providers: many(count, { use: 'xai', apiKey: '$HOUSE_KEY' }) },
    { guards: { redact: many(count, 1) } },
  ]
  for (const [at, body] of parts(256).entries()) t.equal((await ask(body)).status, 200, String(at))
  for (const [at, body] of parts(257).entries()) t.equal((await ask(body)).status, 400, String(at))
})

t.test('a trial finds nothing inside of a network', async (t) => {
  const { own, fresh, ask } = await house(t, false)
  const secrets = { FRESH_KEY: typed }
  const { json } = await ask({ ...tried(fresh.url), secrets })
  t.match(json.data, { faults: [], call: { model: 'large' } })
  t.ok(json.data.call.status >= 400)
  t.equal(fresh.asked.length, 0, 'a private address is not asked')
  t.match((await ask({ ...tried(own.url), secrets })).json.data, { call: { status: 200 } }, 'unless the file has it')
  for (const key of [{ scopes: ['api_key.read'] }, { organization: 'other' }] as const)
    t.equal((await ask(tried(fresh.url), key as NewKey)).status, 403)
})
