import { request as httpRequest } from 'node:http'
import OpenAI, { toFile } from 'openai'
import t, { type Test } from 'tap'
import { use } from '../core/plugin.ts'
import words from '../plugins/guards/words.ts'
import { things } from '../plugins/surfaces/batches/rows.ts'
import { batchHouse, each, manyLines } from './fakes/batch-house.ts'
import { until } from './until.ts'

const line = (custom_id: string, model = 'talk', more: object = {}, body: object = {}) =>
  JSON.stringify({
    ...{ custom_id, method: 'POST', url: '/v1/chat/completions' },
    ...more,
    body: { model, messages: [{ role: 'user', content: `Canary7319 ${custom_id}` }], ...body },
  })

/** A line for Responses. */
const asked = (custom_id: string, more: object = {}) =>
  JSON.stringify({
    ...{ custom_id, method: 'POST', url: '/v1/responses' },
    body: { model: 'talk', input: `Canary7319 ${custom_id}`, ...more },
  })

/** A call that an unmodified client rejects with this. */
const refused = async (t: Test, call: PromiseLike<unknown>, wanted: object, name = 'refused') => {
  const error = await Promise.resolve(call).then(
    () => null,
    (thrown: unknown) => thrown as Error & Record<string, unknown>,
  )
  const { status, code, param, message } = error ?? ({} as never)
  t.match({ status, code, param, message }, wanted, name)
}

const fileOf = (...lines: readonly string[]) => toFile(Buffer.from(lines.join('\n')), 'in.jsonl')

const begin = async (client: OpenAI, ...lines: readonly string[]) => {
  const file = await client.files.create({ file: await fileOf(...lines), purpose: 'batch' })
  const endpoint = '/v1/chat/completions'
  return client.batches.create({ input_file_id: file.id, endpoint, completion_window: '24h', metadata: { a: 'b' } })
}

const request = (custom_id: string, model = 'claude') => ({
  custom_id,
  params: { model, max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] },
})

t.test('OpenAI’s own client runs a batch from its file to its results, which are booked once', async (t) => {
  const house = await batchHouse(t)
  const { client } = house
  const input = await client.files.create({ file: await fileOf(line('one'), '', line('two'), line('bad')), purpose: 'batch' }) // prettier-ignore
  t.match(input, { object: 'file', purpose: 'batch' })
  t.same(house.vendor.lines.map(({ body }) => body.model), ['gpt-own', 'gpt-own', 'gpt-own'], 'the backend’s own name') // prettier-ignore
  t.match(await client.files.retrieve(input.id), { id: input.id })
  t.match(await (await client.files.content(input.id)).text(), /"custom_id":"one"/)
  const batch = await client.batches.create({ input_file_id: input.id, endpoint: '/v1/chat/completions', completion_window: '24h' }) // prettier-ignore
  t.match(batch, { object: 'batch', status: 'completed', model: 'talk' })
  t.match(await client.batches.retrieve(batch.id), { id: batch.id, model: 'talk' })
  t.equal((await house.usage('talk', 0)).requests, 0, 'nothing is booked before results are read')

  const [first, second] = await Promise.all(
    [1, 2].map(async () => (await client.files.content(batch.output_file_id!)).text()),
  )
  t.equal(first, second)
  const results = first!
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text))
  t.same(results.map(({ custom_id }) => custom_id), ['one', 'two']) // prettier-ignore
  await (await client.files.content(batch.error_file_id!)).text()
  await (await client.files.content(batch.output_file_id!)).text()
  t.match(await house.usage('talk', 2), { requests: 2, input: 2_000, output: 200, cost: 2 * each, estimated: 0 })

  t.same((await client.files.list()).data.map(({ id }) => id), [batch.error_file_id, batch.output_file_id, input.id]) // prettier-ignore
  t.match(await client.batches.cancel(batch.id), { status: 'cancelled' })
  t.match(await client.files.delete(input.id), { deleted: true })
  await refused(t, client.files.retrieve(input.id), { status: 404 })
  t.notMatch(
    JSON.stringify(await house.rows().list(things, {})),
    /Canary7319|in\.jsonl/,
    'no text of the caller is kept',
  )
})

t.test('Anthropic’s own client runs a batch to its results, which are booked once', async (t) => {
  const house = await batchHouse(t)
  const { claude } = house
  const batch = await claude.messages.batches.create({ requests: [request('one'), request('bad'), request('two')] })
  t.same(house.vendor.lines.map(({ params }) => params.model), ['claude-own', 'claude-own', 'claude-own']) // prettier-ignore
  t.match(batch, { type: 'message_batch', results_url: `/v1/messages/batches/${batch.id}/results` })
  t.equal((await house.usage('claude', 0)).requests, 0)
  for (let turn = 0; turn < 2; turn++) {
    const ids: string[] = []
    for await (const { custom_id } of await claude.messages.batches.results(batch.id)) ids.push(custom_id)
    t.same(ids, ['one', 'bad', 'two'])
    t.match(await house.usage('claude', 2), { requests: 2, input: 2_000, output: 200, cost: 2 * each })
  }
  t.match(await claude.messages.batches.cancel(batch.id), { processing_status: 'canceling' })
  const all: string[] = []
  for await (const { id } of claude.messages.batches.list({ limit: 1 })) all.push(id)
  t.same(all, [batch.id])
  t.match(await claude.messages.batches.delete(batch.id), { type: 'message_batch_deleted' })
  await refused(t, claude.messages.batches.retrieve(batch.id), { status: 404 })
})

t.test('each call of a batch without a price counts as one without', async (t) => {
  const house = await batchHouse(t)
  const batch = await begin(house.client, line('one', 'unpriced'), line('two', 'unpriced'))
  await (await house.client.files.content(batch.output_file_id!)).text()
  t.match(await house.usage('unpriced', 2), { requests: 2, unpriced: 2 })
})

t.test('a list goes on behind its last id, and shows one’s own alone', async (t) => {
  const house = await batchHouse(t)
  const theirs = house.clientOf(await house.owner('somebody'))
  const ours: string[] = []
  for (let at = 0; at < 5; at++) {
    ours.unshift((await begin(house.client, line(`n${at}`))).id)
    await begin(theirs, line(`t${at}`))
  }
  const seen: string[] = []
  for await (const { id } of house.client.batches.list({ limit: 2 })) seen.push(id)
  t.same(seen, ours)
  t.equal((await theirs.batches.list()).data.length, 5)
  const claude = house.claudeOf(await house.owner('nobody'))
  t.same((await claude.messages.batches.list()).data, [])
  await refused(t, theirs.batches.list({ after: ours[0]! }), { status: 400 }, 'nor behind an id of others')
})

t.test('Anthropic’s client pages backwards to the newest batch, and ends', async (t) => {
  const { claude } = await batchHouse(t)
  const ids: string[] = []
  for (let at = 0; at < 5; at++)
    ids.unshift((await claude.messages.batches.create({ requests: [request(`n${at}`)] })).id)
  const page = await claude.messages.batches.list({ limit: 2, before_id: ids[3]! })
  t.same([page.data.map(({ id }) => id), page.has_more], [[ids[1], ids[2]], true], 'the page stands beside the id')
  const seen: string[] = []
  for await (const { id } of claude.messages.batches.list({ limit: 2, before_id: ids[3]! })) seen.push(id)
  t.same(seen.toSorted(), ids.slice(0, 3).toSorted())
  await refused(t, claude.messages.batches.list({ before_id: 'msgbatch_none' }), { status: 400 })
})

t.test('a key of few models lists its files behind newer ones of other models', async (t) => {
  const house = await batchHouse(t)
  const narrow = house.clientOf((await house.gateway.keys.create({ models: ['unpriced'] })).credential)
  const all = house.clientOf((await house.gateway.keys.create({})).credential)
  const put = async (client: OpenAI, model: string) =>
    client.files.create({ file: await fileOf(line('one', model)), purpose: 'batch' })
  const own = [await put(narrow, 'unpriced'), await put(narrow, 'unpriced')].map(({ id }) => id).toReversed()
  for (let at = 0; at < 5; at++) await put(all, 'talk')
  const page = await narrow.files.list({ limit: 1 })
  t.same([page.data.map(({ id }) => id), page.has_more], [own.slice(0, 1), true])
  const seen: string[] = []
  for await (const { id } of narrow.files.list({ limit: 1 })) seen.push(id)
  t.same(seen, own)
})

t.test('files are listed in the order and of the purpose that OpenAI’s client asks for', async (t) => {
  const { client } = await batchHouse(t)
  const batch = await begin(client, line('one'), line('bad'))
  const later = await client.files.create({ file: await fileOf(line('two')), purpose: 'batch' })
  const idsOf = async (query: OpenAI.FileListParams) => {
    const ids: string[] = []
    for await (const { id } of client.files.list({ limit: 1, ...query })) ids.push(id)
    return ids
  }
  const newest = await idsOf({})
  t.equal(newest.length, 4)
  t.same(await idsOf({ order: 'desc' }), newest)
  t.same(await idsOf({ order: 'asc' }), newest.toReversed())
  t.same(await idsOf({ purpose: 'batch' }), [later.id, batch.input_file_id])
  t.same(await idsOf({ purpose: 'batch_output', order: 'asc' }), [batch.output_file_id, batch.error_file_id])
  t.same(await idsOf({ purpose: 'assistants' }), [])
  await refused(t, client.files.list({ order: 'up' as 'asc' }), { status: 400, message: /order/ })
})

t.test('the part of a prompt cache that a line names is its organisation’s own', async (t) => {
  const house = await batchHouse(t)
  await begin(house.client, line('one', 'talk', {}, { prompt_cache_key: 'tenant' }))
  t.match(house.vendor.lines[0]!.body.prompt_cache_key, /^[0-9a-f]{32}$/)
})

t.test('an id of another owner is not found, and its backend is not asked', async (t) => {
  const house = await batchHouse(t)
  const batch = await begin(house.client, line('one'))
  const messages = await house.claude.messages.batches.create({ requests: [request('one')] })
  const before = house.vendor.asked.length
  const { credential } = await house.gateway.keys.create({ organization: 'others' })
  const narrow = (await house.gateway.keys.create({ models: ['other'] })).credential
  for (const key of [await house.owner('somebody'), credential, narrow]) {
    const [theirs, claude] = [house.clientOf(key), house.claudeOf(key)]
    const calls = [
      () => theirs.files.retrieve(batch.input_file_id),
      () => theirs.files.content(batch.output_file_id!),
      () => theirs.files.delete(batch.output_file_id!),
      () => theirs.batches.retrieve(batch.id),
      () => theirs.batches.cancel(batch.id),
      () => theirs.batches.create({ input_file_id: batch.input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' }), // prettier-ignore
      () => claude.messages.batches.retrieve(messages.id),
      () => claude.messages.batches.cancel(messages.id),
      () => claude.messages.batches.results(messages.id),
      () => claude.messages.batches.delete(messages.id),
    ]
    for (const call of calls) await refused(t, call(), { status: 404 }, String(call))
  }
  await refused(t, house.client.files.retrieve(batch.id), { status: 404 }, 'a batch is no file')
  await refused(
    t,
    house.claude.messages.batches.retrieve(batch.id),
    { status: 404 },
    'nor a batch of the other dialect',
  )
  t.equal(house.vendor.asked.length, before)
})

t.test('results wait for a budget with room, and nothing is booked until then', async (t) => {
  const house = await batchHouse(t)
  const key = async (costPerDay: number) =>
    house.clientOf((await house.gateway.keys.create({ limits: { costPerDay, tokensPerMinute: 10 } })).credential)
  const poor = await key(0.5)
  const batch = await begin(poor, line('one'), line('two'))
  await refused(t, poor.files.content(batch.output_file_id!), { status: 429, code: 'budget_exceeded' })
  t.equal((await house.usage('talk', 0)).requests, 0)
  const file = await house.rows().get(things, batch.output_file_id!)
  t.equal(file?.booked, 0)
  t.match(await (await (await key(5)).files.content(batch.output_file_id!)).text(), /custom_id/, 'by another key of the owner, whatever tokens of a minute are left') // prettier-ignore
  t.match(await house.usage('talk', 2), { cost: 2 * each })
  t.match(await (await poor.files.content(batch.output_file_id!)).text(), /custom_id/, 'a second read books nothing')

  const spent = await key(0.7)
  const paid = await begin(spent, line('one'))
  await (await spent.files.content(paid.output_file_id!)).text()
  const more = await begin(spent, line('one'))
  await refused(t, spent.files.delete(more.output_file_id!), { status: 429 }, 'results that nobody read are booked before they are removed') // prettier-ignore
})

t.test('results of long prompts that cost more than a whole budget have no time at which they are given', async (t) => {
  const house = await batchHouse(t)
  const key = async (costPerDay: number) => (await house.gateway.keys.create({ limits: { costPerDay } })).credential
  let usage = { prompt_tokens: 40_000, completion_tokens: 0 }
  house.vendor.instead = ({ url }, response) => {
    if (!url!.endsWith('/content')) return false
    const lines = ['one', 'two'].map((custom_id) => JSON.stringify({ custom_id, response: { status_code: 200, body: { usage } } })) // prettier-ignore
    response.end(lines.join('\n'))
    return true
  }
  const read = async (credential: string, id?: string) => {
    const file = id ?? (await begin(house.clientOf(credential), line('one'), line('two'))).output_file_id!
    const answer = await fetch(`${house.base}/v1/files/${file}/content`, { headers: { authorization: `Bearer ${credential}` } }) // prettier-ignore
    const { error } = answer.status === 200 ? { error: null } : ((await answer.json()) as any)
    const [after, reset] = ['retry-after', 'x-sealgate-budget-reset'].map((name) => answer.headers.get(name) !== null)
    return { status: answer.status, code: error?.code, message: error?.message, after, reset, id: file }
  }
  const never = { status: 429, code: 'budget_exceeded', message: /costs more than its budget/, after: false, reset: false } // prettier-ignore
  const poor = await key(30)
  const { id, ...told } = await read(poor)
  t.match(told, never, 'each of the two prompts costs 20')
  t.match(await read(await key(50), id), { status: 200 }, 'a larger budget of the owner pays for them')

  usage = { prompt_tokens: 33_000, completion_tokens: 10_000 }
  t.match(await read(await key(40)), never, 'the prompts cost 33, and all of it 53')
  const large = await key(60)
  t.match(await read(large), { status: 200 })
  t.match(await read(large), { status: 429, message: /Budget used up/, after: true, reset: true }, 'tomorrow has room')
})

t.test(
  'OpenAI’s own client runs a batch of Responses, of which the vendor stores nothing and the gateway books all',
  async (t) => {
    const house = await batchHouse(t)
    const { client } = house
    const tools = [{ type: 'web_search' }, { type: 'function', name: 'look', parameters: { type: 'object' } }]
    const lines = [asked('one'), asked('two', { tools, prompt_cache_key: 'k' }), asked('bad')]
    const { data: file, response } = await client.files
      .create({ file: await fileOf(...lines), purpose: 'batch' })
      .withResponse()
    t.match(response.headers.get('x-sealgate-dropped'), 'tools')
    t.match(house.vendor.lines, [
      { url: '/v1/responses', body: { model: 'gpt-own', store: false, input: 'Canary7319 one' } },
      { body: { prompt_cache_key: /^[0-9a-f]{32}$/, tools: [{ name: 'look' }] } },
      {},
    ])
    const batch = await client.batches.create({
      ...{ input_file_id: file.id, endpoint: '/v1/responses', completion_window: '24h' },
    })
    const results = (await (await client.files.content(batch.output_file_id!)).text()).trim().split('\n')
    t.match(results.map((text) => JSON.parse(text).response.body.output[0].content[0].text), ['To one', 'To two']) // prettier-ignore
    t.match(await house.usage('talk', 2), { requests: 2, cost: 2 * each, input: 2_000, output: 200 })
    const wants = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const
    await refused(t, client.batches.create(wants), { status: 400, param: 'endpoint' })
  },
)

t.test('each wrong thing alone is refused, and no vendor keeps anything', async (t) => {
  const house = await batchHouse(t)
  const chat = { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] }
  const wrong: readonly (readonly [string, number, object, ...string[]])[] = [
    ['no file', 400, { param: 'file' }, ''],
    ['no lines', 400, { message: /no requests/ }, '', ' '],
    ['no JSON', 400, { message: /lines\.2/ }, line('one'), '{'],
    ['no object', 400, {}, '5'],
    ['no id', 400, { message: /lines\.1\.custom_id/ }, line('')],
    ['another method', 400, { message: /lines\.1\.method/ }, line('one', 'talk', { method: 'GET' })],
    ['another path', 400, { message: /lines\.1\.url/ }, line('one', 'talk', { url: '/v1/images/generations' })],
    ['no input of Responses', 400, { message: /lines\.1\.body\.input/ }, line('one', 'talk', { url: '/v1/responses' })],
    ['a response of before', 400, { code: 'state_not_supported' }, asked('one', { previous_response_id: 'resp_1' })],
    ['a stored response', 400, { code: 'state_not_supported' }, asked('one', { store: true })],
    ['a response later', 400, { code: 'state_not_supported' }, asked('one', { background: true })],
    ['a streamed response', 400, { message: /body\.stream/ }, asked('one', { stream: true })],
    ['a forced tool of the vendor', 400, {}, asked('one', { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } })],
    ['two paths', 400, { message: /lines\.2\.url/ }, line('one'), line('two', 'talk', { url: '/v1/embeddings' })],
    ['a stream', 400, { message: /body\.stream/ }, line('one', 'talk', {}, { stream: true })],
    ['a store', 400, { code: 'state_not_supported' }, line('one', 'talk', {}, { store: true })],
    ['a file of the vendor', 400, { code: 'state_not_supported' }, line('one', 'talk', {}, chat)],
    ['two models', 400, { message: /lines\.2\.model/ }, line('one'), line('two', 'other')],
    ['a model that nobody has', 404, { code: 'model_not_found' }, line('one', 'nobody')],
    ['a backend without batches', 400, { message: /No backend of the model takes batches/ }, line('one', 'plain')],
    ['a backend of the other dialect', 400, { message: /takes batches/ }, line('one', 'claude')],
    ['a model of another kind', 400, { message: /chat model/ }, line('one', 'vectors')],
    ['a line that is too long', 413, { code: 'request_too_large' }, line('one', 'talk', {}, { user: 'x'.repeat(5 << 20) })],
  ] // prettier-ignore
  for (const [name, status, told, ...lines] of wrong) {
    const file = await fileOf(...lines)
    await refused(t, house.client.files.create({ file, purpose: 'batch' }), { status, ...told }, name)
  }
  const file = await fileOf(line('one'))
  for (const purpose of ['assistants', 'fine-tune'] as const)
    await refused(t, house.client.files.create({ file, purpose }), { status: 400, message: /purpose/ }, purpose)
  const body = { method: 'POST', headers: { authorization: `Bearer ${house.key}` } }
  t.equal((await fetch(`${house.base}/v1/files`, { ...body, body: 'x' })).status, 400, 'no form')
  const claudes: readonly (readonly [string, number, RegExp, string])[] = [
    ['no JSON', 400, /list requests alone/, 'x'],
    ['another member', 400, /list requests alone/, '{"requests":[],"more":1}'],
    ['two commas', 400, /list requests alone/, `{"requests":[${JSON.stringify(request('one'))},]}`],
    ['no requests', 400, /no requests/, '{"requests":[]}'],
    ['half of it', 400, /list requests alone/, `{"requests":[${JSON.stringify(request('one'))}`],
    ['two models', 400, /requests\.2\.model/, JSON.stringify({ requests: [request('one'), request('two', 'rehearsal')] })],
    ['a backend without batches', 400, /takes batches/, JSON.stringify({ requests: [request('one', 'rehearsal')] })],
    ['a backend of the other dialect', 400, /takes batches/, JSON.stringify({ requests: [request('one', 'talk')] })],
  ] // prettier-ignore
  for (const [name, status, pattern, sent] of claudes) {
    const answer = await fetch(`${house.base}/v1/messages/batches`, { ...body, body: sent })
    const told = (await answer.json()) as any
    t.match([answer.status, told.type, told.error.message], [status, 'error', pattern], name)
  }
  t.same((await house.rows().list(things, {})).total, 0)
  const { input_file_id } = await begin(house.client, line('one'))
  const wants = { input_file_id, endpoint: '/v1/embeddings', completion_window: '24h' } as const
  await refused(t, house.client.batches.create(wants), { status: 400, param: 'endpoint' })
  const { credential } = await house.gateway.keys.create({ scopes: ['models.read'] })
  await refused(t, house.clientOf(credential).batches.list(), { status: 403 }, 'a key without the scope')
  t.equal((await fetch(`${house.base}/v1/batches`)).status, 401, 'no key')
})

t.test('a batch whose vendor has lost it, or its results, no longer counts as unread', async (t) => {
  const house = await batchHouse(t)
  const { client } = house
  const [lost, unread] = [await begin(client, line('one')), await begin(client, line('two'))]
  const booked = async ({ id }: { readonly id: string }) => (await house.rows().get(things, id))?.booked
  const isLost = new RegExp(`${lost.id}$|${unread.output_file_id}/content$`)
  house.vendor.instead = ({ url }, response) => {
    if (isLost.test(url!)) response.writeHead(404).end('{"error":{"message":"No"}}')
    return isLost.test(url!)
  }
  t.same([await booked(lost), await booked(unread)], [0, 0])
  await refused(t, client.batches.retrieve(lost.id), { status: 404 })
  await refused(t, client.files.content(unread.output_file_id!), { status: 404 })
  t.same([await booked(lost), await booked(unread)], [1, 1])
  house.vendor.instead = null
  await (await client.files.content(unread.output_file_id!)).text()
  t.match(await house.usage('talk', 1), { requests: 1 }, 'results that come back are booked')
})

t.test('a batch whose failed requests alone were read counts as unread', async (t) => {
  const house = await batchHouse(t)
  const { client } = house
  const booked = async ({ id }: { readonly id: string }) => (await house.rows().get(things, id))?.booked
  const [read, removed] = [await begin(client, line('one'), line('bad')), await begin(client, line('two'), line('bad'))]
  t.match(await (await client.files.content(read.error_file_id!)).text(), '"custom_id":"bad"')
  t.match(await client.files.delete(removed.error_file_id!), { deleted: true })
  t.same([await booked(read), await booked(removed)], [0, 0])
  for (const { output_file_id } of [read, removed]) await (await client.files.content(output_file_id!)).text()
  t.same([await booked(read), await booked(removed)], [1, 1])
  t.match(await house.usage('talk', 2), { requests: 2, input: 2_000 })
})

t.test('a guard that looks at the model’s chats refuses a batch, which it could not see', async (t) => {
  const guard = use(words, { lists: { house: { words: ['secret'] } } })
  const house = await batchHouse(t, {}, [guard])
  const file = await fileOf(line('one'))
  await refused(t, house.client.files.create({ file, purpose: 'batch' }), { status: 400, code: 'guard_refused' })
})

t.test('a vendor that fails, is silent or forgets is told as such, and keeps no owner', async (t) => {
  const house = await batchHouse(t, { timeouts: { total: 2_000 } })
  const upload = async () => house.client.files.create({ file: await fileOf(line('one')), purpose: 'batch' })
  const kept = async () => (await house.rows().list(things, {})).total
  house.vendor.instead = (request) => (request.socket.destroy(), true)
  await refused(t, upload(), { status: 503 })
  house.vendor.instead = () => true
  await refused(t, upload(), { status: 503 }, 'silent')
  house.vendor.instead = (_, response) => (response.writeHead(200).end('{"id":"../x"}'), true)
  await refused(t, upload(), { status: 503 }, 'an id that is none')
  house.vendor.instead = (_, response) => (response.writeHead(401).end('{"error":{"message":"sk-house"}}'), true)
  await refused(t, upload(), { status: 502, message: /^(?!.*sk-house)/ }, 'the account is the operator’s matter')
  t.equal(await kept(), 0)
  house.vendor.instead = null
  const batch = await begin(house.client, line('one'))
  house.vendor.instead = (_, response) => (response.writeHead(404).end('{}'), true)
  await refused(t, house.client.batches.retrieve(batch.id), { status: 404 })
  t.same((await house.client.batches.list()).data, [], 'a list leaves it out')
  house.vendor.instead = (_, response) => (response.writeHead(200).end('{"custom_id":'), true)
  await refused(t, house.client.files.content(batch.output_file_id!), { status: 503 }, 'results that are no JSON')
  t.equal((await house.rows().get(things, batch.output_file_id!))?.booked, 0)
  house.vendor.instead = null
  t.match(await (await house.client.files.content(batch.output_file_id!)).text(), /custom_id/)
})

t.test('a client that leaves in the midst of its file ends the vendor’s upload, and owns nothing', async (t) => {
  const house = await batchHouse(t)
  let left = false
  house.vendor.instead = (request) => {
    request.resume().on('error', () => (left = true))
    return true
  }
  const headers = { authorization: `Bearer ${house.key}`, 'content-type': 'multipart/form-data; boundary=b' }
  const sending = httpRequest(`${house.base}/v1/files`, { method: 'POST', headers }).on('error', () => undefined)
  for await (const piece of manyLines(2_000)) if (!Buffer.from(piece).includes('--b--')) sending.write(piece)
  t.ok(await until(() => house.vendor.asked.includes('POST /v1/files')))
  sending.destroy()
  t.ok(await until(() => left), 'the vendor gets no whole file')
  t.equal((await house.rows().list(things, {})).total, 0)
})
