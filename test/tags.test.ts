import './fakes/unwatched.ts'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { tagsOf } from '../core/access/tags.ts'
import { running, unhurried } from './environments.ts'
import { sealing } from './fakes/proxied.ts'
import { sumsMs, until } from './until.ts'

const chat = { model: 'rehearsal', messages: [{ role: 'user', content: 'Canary7319' }] }

t.test('tags are pairs of a narrow alphabet', (t) => {
  t.same(tagsOf('feature=search,env=prod'), ['env=prod', 'feature=search'])
  t.same(tagsOf(' a=1 ,  b=2'), ['a=1', 'b=2'])
  const eight = Array.from({ length: 8 }, (_, at) => `n${at}=v`)
  t.same(tagsOf(eight.join()), eight)
  const longest = `${'n'.repeat(32)}=${'v'.repeat(64)}`
  t.same(tagsOf(longest), [longest])
  for (const wrong of [
    ...['', 'a', 'a=', '=b', 'a=b,', 'a=b c', 'a=b=c', 'a=ä', 'a=b;c=d', '=', '-a=b', 'a=-b', 'a="b"', 'a=1,a=2'],
    [...eight, 'n8=v'].join(),
    `n${longest}`,
    `${longest}v`,
    `a=b${' '.repeat(1_024)}`,
  ])
    t.throws(() => tagsOf(wrong), { status: 400, message: 'The tags are malformed' }, wrong)
  t.end()
})

t.test('calls of every door are counted under their tags', { timeout: 120_000 }, async (t) => {
  const gateway = await running(t, memory(), unhurried)
  const doors: Readonly<Record<string, readonly [string, object]>> = {
    v1: ['/v1/chat/completions', chat],
    messages: ['/v1/messages', { ...chat, max_tokens: 9 }],
    responses: ['/v1/responses', { model: 'rehearsal', input: 'x' }],
    std: ['/std/chat/completions', chat],
    gemini: ['/v1beta/models/rehearsal:generateContent', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }],
  }
  for (const [door, [path, body]] of Object.entries(doors)) {
    const answer = await gateway.call('POST', path, body, { 'x-sealgate-tags': `door=${door},env=test` })
    t.equal(answer.status, 200, door)
    await answer.text()
    const malformed = await gateway.call('POST', path, body, { 'x-sealgate-tags': 'door' })
    t.equal(malformed.status, 400, door)
    t.match(await malformed.text(), /tags are malformed/i, door)
  }
  const decision = await gateway.call('POST', '/compat/v1/decision', {}, { 'x-sealgate-tags': '=' })
  t.match(await decision.text(), /tags are malformed/i)
  const proxy = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], { SEALGATE_KEY: gateway.key })
  const sealed = await fetch(`${proxy.url}/chat/completions`, {
    method: 'POST',
    headers: { 'x-sealgate-tags': 'door=seal' },
    body: JSON.stringify(chat),
  })
  t.equal(sealed.status, 200)
  await sealed.text()
  await (await gateway.call('POST', '/v1/chat/completions', chat)).text()

  const sums = async (query: string) => {
    const { data } = (await (await gateway.call('GET', `/admin/usage/sums?${query}`)).json()) as any
    return Object.fromEntries(data.sums.map(({ name, requests }: any) => [name, requests])) as Record<string, number>
  }
  const due = {
    ...Object.fromEntries([...Object.keys(doors), 'seal'].map((door) => [`door=${door}`, 1])),
    'env=test': 5,
  }
  // The call without tags is written last.
  t.ok(await until(async () => (await sums('by=organization'))['default'] === 7, sumsMs))
  t.same(await sums('by=tag'), due)
  const metrics = await (await gateway.call('GET', '/metrics')).text()
  t.notMatch(metrics, /door=|env=test|door="/, 'no tag is a label')
  t.notMatch(JSON.stringify(gateway.logged), /door=/, 'nor is it logged')

  const csv = await gateway.call('GET', '/admin/usage/sums?by=tag&format=csv')
  t.match(csv.headers.get('content-type'), /^text\/csv/)
  t.match(
    csv.headers.get('content-disposition'),
    /^attachment; filename="usage-by-tag-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv"$/,
  )
  const lines = (await csv.text()).trim().split('\r\n')
  t.match(
    lines[0],
    /^tag,requests,input,output,reasoning,cached,audio_seconds,estimated,unanswered,unpriced,cost,estimated_cost$/,
  )
  t.equal(lines.length, 8)
  t.match(lines[1], /^door=gemini,1,/)

  const page = (await (await gateway.call('GET', '/admin/usage/sums?by=tag&limit=3')).json()) as any
  t.equal(page.data.next, 'door=responses')
  const rest = (await (await gateway.call('GET', `/admin/usage/sums?by=tag&after=${page.data.next}`)).json()) as any
  t.same(
    [...page.data.sums, ...rest.data.sums].map(({ name }: any) => name),
    Object.keys(due).sort(),
  )
  t.equal(rest.data.next, null)
})

t.test('an organisation has a hundred tags a day, and the rest are counted as other', async (t) => {
  const gateway = await running(t, memory(), unhurried)
  for (let at = 0; at < 104; at++) {
    const answer = await gateway.call('POST', '/v1/chat/completions', chat, { 'x-sealgate-tags': `n=${at},m=1` })
    await answer.text()
  }
  const sums = async () =>
    ((await (await gateway.call('GET', '/admin/usage/sums?by=tag&limit=1000')).json()) as any).data.sums
  t.ok(
    await until(
      async () => (await sums()).reduce((all: number, { requests }: any) => all + requests, 0) === 208,
      sumsMs,
    ),
  )
  t.equal((await sums()).length, 101)
  t.match(
    (await sums()).find(({ name }: any) => name === 'other'),
    { requests: 5 },
  )
  t.same(
    gateway.logged.filter(({ event }) => event === 'usage.tags').map(({ facts }) => facts),
    [{ of: 'organization', whose: 'default' }],
  )
})

t.test('sums of other organisations are for operators', async (t) => {
  const gateway = await running(t, memory(), unhurried)
  const { credential } = await gateway.gateway.keys.create({ organization: 'tenant' })
  const own = { authorization: `Bearer ${credential}` }
  await (await gateway.call('POST', '/v1/chat/completions', chat, own)).text()
  await (await gateway.call('POST', '/v1/chat/completions', chat)).text()
  const names = async (query: string, headers = {}) => {
    const answer = await gateway.call('GET', `/admin/usage/sums?by=organization${query}`, undefined, headers)
    return answer.status === 200 ? ((await answer.json()) as any).data.sums.map(({ name }: any) => name) : answer.status
  }
  t.ok(await until(async () => (await names('&organization=*')).length === 2))
  t.same(await names('', own), ['tenant'])
  t.equal(await names('&organization=*', own), 403)
  t.equal(await names('&organization=default', own), 403)
  t.same(await names('&organization=tenant'), ['tenant'])
  const { credential: blind } = await gateway.gateway.keys.create({ scopes: ['chats.completion'] })
  t.equal(await names('', { authorization: `Bearer ${blind}` }), 403)
  for (const wrong of ['by=colour', 'from=2030-02-30', 'to=2030-01', 'limit=0', 'limit=1001', 'format=xml', 'other=1'])
    t.equal((await gateway.call('GET', `/admin/usage/sums?${wrong}`)).status, 400, wrong)
})
