import t from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { fetch as doors } from '../../adapters/production/platform.ts'
import { use } from '../../core/plugin.ts'
import openai from '../../plugins/providers/openai.ts'
import { running, unhurried } from '../environments.ts'
import { opened } from '../fakes/doors.ts'
import { scripted } from '../fakes/scripted.ts'
import { backend } from '../contracts/stage.ts'

const hello = scripted(() => [{ think: 'Let me see.' }, { say: 'Hello.' }])
const messages = [{ role: 'user', content: 'Hi' }]

t.test('a key comes in any of the headers; two that differ are refused', async (t) => {
  const doors = await opened(t, hello)
  const asked = (headers: Record<string, string>, path = '/v1/models') => fetch(doors.base + path, { headers })
  const names = ['x-api-key', 'api-key', 'x-goog-api-key']
  const bearer = { authorization: `Bearer ${doors.key}` }
  for (const name of names) {
    t.equal((await asked({ [name]: doors.key })).status, 200, name)
    t.equal((await asked({ ...bearer, [name]: doors.key })).status, 200, `${name} beside the same`)
    t.equal((await asked({ ...bearer, [name]: 'other' })).status, 401, `${name} beside another`)
    t.equal((await asked({ [name]: 'other' })).status, 401, `another ${name}`)
    t.equal((await asked({ [name]: doors.key }, '/std/models')).status, 401, `${name} elsewhere`)
    t.equal((await asked({ ...bearer, [name]: 'other' }, '/std/models')).status, 200, `${name} is nothing elsewhere`)
  }
  const { credential } = await doors.gateway.keys.create({})
  t.equal((await asked({ 'x-api-key': doors.key, 'api-key': credential })).status, 401, 'two good ones')
  t.equal((await asked({})).status, 401)
})

t.test('models have names for ids, in the shape of the caller’s dialect', async (t) => {
  const doors = await opened(t, hello, { 'some/model': 'chat' })
  const get = async (path: string, headers: Record<string, string> = {}) =>
    (await doors.call('GET', path, undefined, headers)).json() as Promise<any>
  const { object, data } = await get('/v1/models')
  t.same([object, data.map(({ id }: any) => id)], ['list', ['chat', 'responses', 'messages', 'gemini', 'some/model']])
  const { created, ...model } = await get('/v1/models/some%2Fmodel')
  t.same(model, { id: 'some/model', object: 'model', owned_by: 'chat' })
  t.ok(Math.abs(created - Date.now() / 1000) < 600, 'a time')
  t.same(await get('/v1/models/some/model'), { created, ...model }, 'a slash may stand as a slash')
  t.match(await get('/v1beta/models/some/model'), { name: 'models/some/model' })
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  for (const name of ['some/model', 'some%2Fmodel', 'chat']) {
    const asking = await doors.call('POST', `/v1beta/models/${name}:generateContent`, { contents })
    t.match(await asking.json(), { candidates: [{ content: { parts: [{ text: 'Hello.' }] } }] }, name)
  }
  t.equal((await doors.call('POST', '/v1beta/models/some/model:unknown', { contents })).status, 405)
  const version = { 'anthropic-version': '2023-06-01' }
  t.match(await get('/v1/models', version), { has_more: false, first_id: 'chat', last_id: 'some/model' })
  t.match(await get('/v1/models/chat', version), { type: 'model', id: 'chat', display_name: 'chat' })
  t.match(await get('/v1beta/models'), { models: [{ name: 'models/chat' }, {}, {}, {}] })
  t.match(await get('/v1beta/models/chat'), { name: 'models/chat', supportedGenerationMethods: ['generateContent'] })
  t.match(await get('/v1/models/nobody'), { error: { code: 'model_not_found' } })
  t.equal((await fetch(doors.base, { method: 'HEAD' })).status, 200, 'somebody is there')
})

t.test('an error of /v1 has the form of the Messages dialect for its clients', async (t) => {
  const doors = await opened(t, hello)
  const spoken = { 'anthropic-version': '2023-06-01', 'x-api-key': doors.key }
  for (const [path, headers, status, type] of [
    ['/v1/models', { ...spoken, 'x-api-key': 'other' }, 401, 'authentication_error'],
    ['/v1/models/nobody', spoken, 404, 'not_found_error'],
    ['/v1/skills', spoken, 404, 'not_found_error'],
  ] as const) {
    const answer = await fetch(doors.base + path, { headers })
    const id = answer.headers.get('x-request-id')!
    t.match([answer.status, await answer.json()], [status, { type: 'error', error: { type }, request_id: id }], path)
    if (path !== '/v1/skills')
      t.equal(answer.headers.get('request-id'), id, `${path} has the id where the client reads it`)
    const { 'anthropic-version': _, ...plain } = headers
    const other = (await (await fetch(doors.base + path, { headers: plain })).json()) as { error: object }
    t.ok('param' in other.error && !('type' in other), `${path} without the version`)
  }
})

t.test('standard handlers serve under v1 with the errors of the dialect', async (t) => {
  const doors = await opened(t, hello)
  const whole = await doors.call('POST', '/v1/chat/completions', { model: 'chat', messages })
  t.match(await whole.json(), { model: 'chat', choices: [{ message: { content: 'Hello.' } }] })
  for (const path of ['chat/completions', 'embeddings', 'images/generations', 'audio/speech']) {
    const answer = await doors.call('POST', `/v1/${path}`, { model: 5 })
    t.match(
      [answer.status, await answer.json()],
      [400, { error: { type: 'invalid_request_error', param: String } }],
      path,
    )
  }
  t.match(await (await doors.call('POST', '/std/embeddings', { model: 5 })).json(), { status: 400, validator: {} })
})

t.test('names and surfaces decide where the doors are', async (t) => {
  const renamed = await opened(t, hello, {}, { names: { v1: 'llm' } })
  t.equal((await renamed.call('POST', '/llm/responses', { model: 'chat', input: 'Hi' })).status, 200)
  t.equal((await renamed.call('POST', '/v1/responses', { model: 'chat', input: 'Hi' })).status, 404)
  const both = await opened(t, hello, {}, { names: { std: 'v1', v1: 'llm' } })
  t.equal((await both.call('POST', '/llm/responses', { model: 'chat', input: 'Hi' })).status, 200)
  t.equal((await both.call('POST', '/v1/chat/completions', { model: 'chat', messages })).status, 200)
  const closed = await opened(t, hello, {}, { surfaces: ['chat'] })
  t.equal((await closed.call('POST', '/v1/responses', { model: 'chat', input: 'Hi' })).status, 404)
  const shared = await opened(t, hello, {}, { names: { std: 'v1' } })
  const { data } = (await (await shared.call('GET', '/v1/models')).json()) as any
  t.type(data[0].id, 'number', 'standard routes that were called v1 before stay what they were')
})

t.test('a session that the caller names stays with one backend', async (t) => {
  const all = await Promise.all(Array.from({ length: 4 }, () => backend(t, hello)))
  const upstreams = all.map(({ url }, at) => use(openai, { baseUrl: `${url}/v1` }, `backend-${at}`))
  const talk = { upstreams: all.map((_, at) => ({ provider: `backend-${at}` })) }
  const gateway = await running(t, { ...memory(), fetch: use(doors), upstreams }, { models: { talk }, ...unhurried })
  const counts = () => all.map(({ asked: requests }) => requests.length)
  const ask = (text: string, body: object, headers: Record<string, string>) =>
    gateway.call('POST', '/v1/responses', { model: 'talk', input: text, ...body }, headers)
  for (const [body, headers] of [
    [{ prompt_cache_key: 'mine' }, {}],
    [{}, { 'x-claude-code-session-id': 'mine' }],
    [{}, { session_id: 'mine' }],
  ] as const) {
    const before = counts()
    for (let at = 0; at < 12; at++) await ask(`Question ${at}`, body, headers)
    const news = counts().map((count, at) => count - before[at]!)
    t.same(
      news.toSorted((a, b) => b - a),
      [12, 0, 0, 0],
      JSON.stringify({ body, headers }),
    )
  }
})

t.test('with a secret, another gateway opens what a caller keeps; without one, it does not', async (t) => {
  const kept = async (secret?: string) => {
    const settings = secret === undefined ? {} : { keepsakes: { secret } }
    const [one, other] = [await opened(t, hello, {}, settings), await opened(t, hello, {}, settings)]
    const { output } = (await (await one.call('POST', '/v1/responses', { model: 'chat', input: 'Hi' })).json()) as any
    const input = output.map(({ id }: any) => ({ type: 'item_reference', id }))
    return (await other.call('POST', '/v1/responses', { model: 'chat', input })).status
  }
  t.equal(await kept('a secret of thirty-two characters'), 200)
  t.equal(await kept(), 400)
})
