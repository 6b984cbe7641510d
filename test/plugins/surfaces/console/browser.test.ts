import { readFile, readdir } from 'node:fs/promises'
import t from 'tap'
import { newKek } from '../../../../plugins/sealed/client/client.ts'
import { recoveryCode } from '../../../../plugins/sealed/client/backup.ts'
import { addressOf } from '../../../../plugins/surfaces/console/browser/address.ts'
import type { Chained, Usage } from '../../../../plugins/surfaces/console/browser/answers.ts'
import { faultsOf, lampOf } from '../../../../plugins/surfaces/console/browser/backing.ts'
import { budgetsOf } from '../../../../plugins/surfaces/console/browser/budgets.ts'
import { linksOf } from '../../../../plugins/surfaces/console/browser/pages/models.ts'
import { csvOf } from '../../../../plugins/surfaces/console/browser/csv.ts'
import {
  type DrillScene,
  changeWords,
  drillRows,
  drillRuns,
  markCounts,
  sightWords,
} from '../../../../plugins/surfaces/console/browser/drill-run.ts'
import { eventsOf } from '../../../../plugins/surfaces/console/browser/event-stream.ts'
import { type Gateway, baseOf, curlOf, pathOf } from '../../../../plugins/surfaces/console/browser/gateway.ts'
import { fitting } from '../../../../plugins/surfaces/console/browser/list-view.ts'
import { liveFeed } from '../../../../plugins/surfaces/console/browser/live-feed.ts'
import { forecastOf, standsOf } from '../../../../plugins/surfaces/console/browser/spending.ts'
import { spanBefore, usageHash, usageQuery } from '../../../../plugins/surfaces/console/browser/usage-query.ts'
import { samplesOf } from '../../../../plugins/surfaces/console/browser/prometheus.ts'
import { attemptWords, lengthOf, standOf } from '../../../../plugins/surfaces/console/browser/running.ts'
import { troublesOf } from '../../../../plugins/surfaces/console/browser/sentences.ts'
import { snippetsOf } from '../../../../plugins/surfaces/console/browser/snippets.ts'
import { isOwnToken, takenToken } from '../../../../plugins/surfaces/console/browser/own-machine.ts'
import { checkWords } from '../../../../plugins/surfaces/console/browser/sealed/check-words.ts'
import { holdsKek } from '../../../../plugins/surfaces/console/browser/sealed/playground-client.ts'
import { seenBody } from '../../../../plugins/surfaces/console/browser/sealed/seen-fields.ts'
import { daysBetween, nothing, sumOf, sumsBy } from '../../../../plugins/surfaces/console/browser/sums.ts'
import { clockTime, counted } from '../../../../plugins/surfaces/console/browser/format.ts'
import { placesFor } from '../../../../plugins/surfaces/console/browser/jump.ts'
import { trafficChoice, trafficPath } from '../../../../plugins/surfaces/console/browser/traffic-view.ts'
import { weightsConfig } from '../../../../plugins/surfaces/console/browser/weights.ts'

const used = (row: Partial<Usage>): Usage => ({
  ...{ key: 'key_1', day: '2030-01-31', model: 'm', requests: 1, input: 10, output: 5, reasoning: 0, cached: 0 },
  ...{ audio_seconds: 0, estimated: 0, unanswered: 0, unpriced: 0, cost: 0 },
  ...row,
})

t.test('a CSV keeps cells apart, leaves unknown ones empty, and runs nothing', (t) => {
  const csv = csvOf(
    ['a', 'b'],
    [
      ['x,"y"', null],
      ['=HYPERLINK("http://x")', 0],
      ['-1+2', -3],
      ['x;=1+1;-y', 'a-b'],
    ],
  )
  t.equal(csv, 'a,b\r\n"x,""y""",\r\n"\'=HYPERLINK(""http://x"")",0\r\n\'-1+2,-3\r\nx;\'=1+1;\'-y,a-b\r\n')
  t.end()
})

t.test('a sum without any price has no cost, and one with some counts the others', (t) => {
  t.equal(sumOf([used({ unpriced: 1, cost: null })]).cost, null)
  t.match(sumOf([used({ unpriced: 1, cost: null }), used({ cost: 0.5 })]), { cost: 0.5, unpriced: 1, requests: 2 })
  t.same(
    [...sumsBy([used({ model: 'a' }), used({ model: 'b' }), used({ model: 'a' })], ({ model }) => model)].map(
      ([name, { requests }]) => [name, requests],
    ),
    [
      ['a', 2],
      ['b', 1],
    ],
  )
  t.same(daysBetween('2028-02-28', '2028-03-01'), ['2028-02-28', '2028-02-29', '2028-03-01'])
  t.end()
})

const measured = (answered: number, failed: number) =>
  samplesOf(
    [
      '# HELP sealgate_backend_seconds x',
      `sealgate_backend_seconds_bucket{le="0.1",provider="house",outcome="answered"} ${answered / 2}`,
      `sealgate_backend_seconds_bucket{le="0.5",provider="house",outcome="answered"} ${answered}`,
      `sealgate_backend_seconds_bucket{le="+Inf",provider="house",outcome="answered"} ${answered}`,
      `sealgate_backend_seconds_count{provider="house",outcome="answered"} ${answered}`,
      `sealgate_backend_seconds_count{provider="house",outcome="failed"} ${failed}`,
      `sealgate_request_seconds_count{route="POST /v1/chat/completions",status="200"} ${answered}`,
      `sealgate_request_seconds_count{route="POST /v1/chat/completions",status="502"} ${failed}`,
      `sealgate_request_seconds_count{route="POST /rvenc/chat/completions",status="200"} ${answered}`,
      'sealgate_request_seconds_count{route="GET /metrics",status="200"} 77',
      'sealgate_budget_share{of="organization",whose="a \\"b\\"",period="day"} 0.91',
    ].join('\n'),
  )

t.test('a number stands before its noun, which has one form for one and another for all others', (t) => {
  t.same([counted(0, 'error'), counted(1, 'error'), counted(2, 'error')], ['0 errors', '1 error', '2 errors'])
  t.same([counted(1, 'retry', 'retries'), counted(3, 'retry', 'retries')], ['1 retry', '3 retries'])
  t.end()
})

t.test('a budget stands beside what is spent, the tightest first, and a month is foreseen at its pace', (t) => {
  const spent = (cost: number | null) => ({ ...nothing, requests: 1, cost })
  const spending = { day: spent(1), week: spent(8), month: spent(10) }
  const team = {
    ...{ name: 'blue', budgets: {}, version: 0, created_at: 0, closed_at: null },
    source: 'store',
    limits: { costPerDay: 4, costPerWeek: 10, costPerMonth: null },
  } as const
  t.same(
    standsOf(team, spending).map(({ period, used, most }) => [period, used, most]),
    [
      ['week', 8, 10],
      ['day', 1, 4],
    ],
  )
  t.equal(forecastOf(spending, Date.UTC(2030, 3, 11)), 30, 'ten of thirty days')
  t.equal(forecastOf(spending, Date.UTC(2030, 3, 1, 5)), null, 'too early')
  t.equal(forecastOf({ ...spending, month: spent(null) }, Date.UTC(2030, 3, 11)), null, 'no known cost')
  t.end()
})

t.test('the address says which usage is shown, and the span before has as many days', (t) => {
  const address = '#/usage?by=model&from=2030-03-01&to=2030-03-10&team=blue&split=key&compare=1&show=cost'
  const asked = usageQuery(new URLSearchParams(address.split('?')[1]))
  t.equal(usageHash(asked), address)
  t.match(usageQuery(new URLSearchParams('by=x&split=y&show=z&from=1')), { by: 'day', split: '', show: 'requests' })
  const usual = usageQuery(new URLSearchParams())
  for (const day of ['2026-13-41', '2026-02-30', '0000-00-00'])
    t.same(usageQuery(new URLSearchParams({ from: day, to: day })), usual, `${day} is no day`)
  t.same(spanBefore(asked), { from: '2030-02-19', to: '2030-02-28' })
  t.end()
})

t.test('measurements are read as Prometheus writes them', (t) => {
  const samples = measured(10, 2)
  t.equal(samples.find(({ labels }) => labels['of'] !== undefined)?.labels['whose'], 'a "b"')
  t.equal(samples.length, 10)
  t.match(samples.at(0), {
    name: 'sealgate_backend_seconds_bucket',
    labels: { le: '0.1', provider: 'house' },
    value: 5,
  })
  t.end()
})

t.test('the address says which traffic is shown', (t) => {
  const path = (query: string) => trafficPath(trafficChoice(new URLSearchParams(query)))
  t.equal(path(''), '/admin/traffic?span=hour&by=model')
  t.equal(path('span=day&by=team&name=acme%2Fblue'), '/admin/traffic?span=day&by=team&name=acme%2Fblue')
  t.equal(path('span=year&by=nothing'), '/admin/traffic?span=hour&by=model')
  t.end()
})

t.test('words lead to places, and an id to its request or key', (t) => {
  const places = [
    { words: 'Keys', hash: '#/keys' },
    { words: 'Key nightly report …abcd', hash: '#/keys/key_1' },
    { words: 'Team blue', hash: '#/keys?team=blue' },
  ]
  const words = (text: string) => placesFor(text, places).map(({ words }) => words)
  t.equal(words('').length, 3)
  t.same(words('REPORT nightly'), ['Key nightly report …abcd'])
  t.same(words('nothing'), [])
  const id = '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8'
  t.same(placesFor(` ${id} `, places), [{ words: `Request ${id}`, hash: `#/live/${id}` }])
  t.same(placesFor(`key_${id}`, places), [{ words: `Key key_${id}`, hash: `#/keys/key_${id}` }])
  t.equal(
    placesFor(
      'x',
      Array.from({ length: 50 }, (_, n) => ({ words: `x${n}`, hash: '#/' })),
    ).length,
    12,
  )
  t.end()
})

t.test('a search wants every word, and a filter one value', (t) => {
  const filters = [{ name: 'team', label: 'Team', of: ({ team }: { readonly team: string }) => team }]
  const list = {
    words: ({ name, team }: { readonly name: string; readonly team: string }) => `${name} ${team}`,
    filters,
  }
  const rows = [
    { name: 'Nightly report', team: 'blue' },
    { name: 'Nightly backup', team: 'green' },
    { name: 'Chat', team: 'blue' },
  ]
  const found = (words: string, team = '') =>
    rows.filter(fitting(list, { words, filters: new Map([['team', team]]) })).map(({ name }) => name)
  t.same(found('night'), ['Nightly report', 'Nightly backup'])
  t.same(found('blue night'), ['Nightly report'])
  t.same(found('', 'blue'), ['Nightly report', 'Chat'])
  t.same(found('backup', 'blue'), [])
  t.end()
})

t.test('the budget of a team is called the budget of a team', (t) => {
  const sample = (of: string, whose: string) => ({
    name: 'sealgate_budget_share',
    labels: { of, whose, period: 'month' },
    value: 0.5,
  })
  const holders = budgetsOf([sample('team', 'default/blue'), sample('organization', 'default'), sample('gateway', '')])
  t.same(
    holders.map(({ holder }) => holder),
    ['team default/blue', 'organisation default', 'the gateway'],
  )
  t.end()
})

t.test('what is wrong is said in sentences, the gravest first', (t) => {
  const quiet = { obstacle: null, degraded: [], samples: [], incidents: [], chains: [] }
  const incident = { backend: 'broken', model: 'own', since: 0, last: 0, until: null, failed: 14, status: 500 }
  const link = { ...incident, priority: 1, weight: 1, context_tokens: null }
  const chained = (model: string, ...chain: (typeof link)[]) => ({
    ...{ model, type: 'CHAT', standard: true, confidential: false, chain },
  })
  const wrong = (...chains: ReturnType<typeof chained>[]) => troublesOf({ ...quiet, incidents: [incident], chains })
  const since = `since ${clockTime(0)}, 14 failed, the last with 500`
  t.match(wrong(chained('a', link), chained('b', { ...link, backend: 'house' })), [
    {
      grave: true,
      words: `Model a: no call of backend broken is answered ${since}.`,
      hash: '#/live?show=failed&model=a',
    },
  ])
  t.match(wrong(chained('a', link, { ...link, backend: 'house' })), [
    { grave: false, words: `Model a: no call of backend broken is answered ${since}; other backends answer.` },
  ])
  t.match(wrong(), [{ grave: true, words: `Model own: no call of backend broken is answered ${since}.` }])
  t.same(troublesOf({ ...quiet, incidents: [{ ...incident, until: 5 }] }), [], 'what is over is no trouble')
  t.same(troublesOf(quiet), [])
  const samples = measured(10, 2)
  t.same(budgetsOf(samples), [{ holder: 'organisation a "b"', period: 'day', share: 0.91 }])
  const troubles = troublesOf({
    ...quiet,
    obstacle: 'Draining',
    degraded: ['evidence', 'crl', 'The row store takes no writes'],
    samples,
  })
  t.same(
    troubles.map(({ words }) => words),
    [
      'The gateway is not ready: Draining.',
      'The gateway refuses the evidence of its own enclave.',
      'Clients that seal refuse this gateway: crl is missing or has ended.',
      'The row store takes no writes.',
      'The budget of organisation a "b" for a day is used to 91 %.',
    ],
  )
  t.same(
    troubles.map(({ grave }) => grave),
    [true, true, true, true, false],
  )
  t.end()
})

t.test('addresses lead to pages, whatever stands in them', (t) => {
  t.match(addressOf(''), { page: 'home', path: [] })
  t.match(addressOf('#/keys/key%5F1'), { page: 'keys', path: ['key_1'] })
  t.equal(addressOf('#/usage?by=model').query.get('by'), 'model')
  t.match(addressOf('#/%E0%A4%A'), { page: '%E0%A4%A' })
  t.equal(baseOf({ origin: 'https://a.example', pathname: '/gateway/console' }), 'https://a.example/gateway')
  t.equal(pathOf('/x', { a: 'b c', none: null, empty: '' }), '/x?a=b%20c')
  t.end()
})

t.test('commands to paste hold whatever a name holds, and the key once', (t) => {
  t.match(curlOf('https://a.example', "/x?model=it's"), `'https://a.example/x?model=it'\\''s'`)
  const snippets = snippetsOf(
    'https://a.example',
    { openai: '/v1', confidential: '/rvenc/models' },
    'sk_live_1',
    "it's",
  )
  t.equal(snippets.filter(({ text }) => text.includes('sk_live_1')).length, 1)
  t.match(snippets.find(({ name }) => name === 'curl')?.text, `"model":"it'\\''s"`)
  t.match(snippets.find(({ name }) => name.startsWith('Codex'))?.text, 'wire_api = "responses"')
  t.same(snippetsOf('https://a.example', {}, 'sk_live_1', 'm').length, 1)
  t.end()
})

t.test('events come apart wherever the stream was cut', async (t) => {
  const text = ': sign\n\nevent: requests\ndata: {"a":"é"}\n\ndata: x\ndata: y\n\ndata: unfinished'
  const bytes = Buffer.from(text)
  for (const size of [1, 7, bytes.length]) {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    )
    const seen = []
    for await (const event of eventsOf(
      new ReadableStream({
        start: (controller) => (parts.forEach((part) => controller.enqueue(part)), controller.close()),
      }),
    ))
      seen.push(event)
    t.same(seen, [
      { event: 'requests', data: '{"a":"é"}' },
      { event: 'message', data: 'x\ny' },
    ])
  }
})

t.test('a lamp counts down, and then waits for the one call', (t) => {
  t.match(lampOf({ state: 'open', rest_ms: 8_000 }, 0), { kind: 'bad', words: 'open for 8 s' })
  t.match(lampOf({ state: 'open', rest_ms: 3_600_000 }, 0), { words: 'open for 60 min' })
  t.match(lampOf({ state: 'open', rest_ms: 8_000 }, 2_500), { words: 'open for 6 s' })
  t.match(lampOf({ state: 'open', rest_ms: 8_000 }, 8_000), { kind: 'mixed', words: 'tries one call' })
  t.match(lampOf({ state: 'closed', rest_ms: 0 }, 0), { kind: 'good', words: 'closed: calls pass' })
  t.end()
})

const chained: Chained = {
  model: 'm',
  type: 'CHAT',
  standard: true,
  confidential: false,
  chain: [
    { backend: 'a', model: 'm', priority: 1, weight: 1, context_tokens: null },
    { backend: 'b', model: 'own', priority: 1, weight: 3, context_tokens: 4096 },
    { backend: 'c', model: 'm', priority: 2, weight: 0, context_tokens: null },
  ],
}

t.test('a share is one of its priority, and weights become a configuration', (t) => {
  t.same(
    linksOf([chained]).map(({ place, share }) => [place, share]),
    [
      [1, 0.25],
      [2, 0.75],
      [3, null],
    ],
  )
  t.same(JSON.parse(weightsConfig(chained, [2, 0, 5])), {
    models: {
      m: {
        upstreams: [
          { provider: 'a', weight: 2, priority: 1 },
          { provider: 'b', model: 'own', context_tokens: 4096, weight: 0, priority: 1 },
          { provider: 'c', weight: 5, priority: 2 },
        ],
      },
    },
  })
  t.end()
})

t.test('a request is told in words, and what the tab did not see to its end is no request that runs', (t) => {
  const attempt = {
    backend: 'a',
    model: 'm',
    from: 0,
    ms: 5,
    outcome: 'answered',
    status: null,
    streams: true,
  } as const
  const attempts = {
    ...{ id: 'r', at: 0, route: 'POST /x', organization: 'o', key: 'k', model: 'm', backend: 'a', first_token: 1 },
    ...{ tokens: null, status: null, ms: null, attempts_left_out: 0 },
    attempts: [
      { ...attempt, cause: 'first' as const },
      { ...attempt, cause: 'rescue' as const, from: 20 },
    ],
  }
  t.equal(attemptWords(attempts), '2, 1 rescue')
  t.equal(standOf(attempts).words, 'runs')
  t.match(standOf({ ...attempts, lost: true }), { kind: 'idle', words: 'end not seen' })
  t.equal(standOf({ status: 499 }).words, '499 caller left')
  t.equal(standOf({ status: 503 }).kind, 'bad')
  t.equal(lengthOf(attempts, 100), 100)
  t.equal(lengthOf({ ...attempts, lost: true }, 100), 25)
  t.equal(faultsOf({ calls: [], faults: [] }), 'no calls yet')
  t.end()
})

t.test('a tab that stops listening takes no request for one that runs', async (t) => {
  const none = () => Promise.reject(new Error('The feed asks for events alone'))
  const left = new AbortController()
  const running = { id: 'r1', ms: null }
  const gateway: Gateway = {
    ...{ base: '', ask: none, read: none, post: none, text: none, raw: none },
    async *sent() {},
    async *events() {
      yield { event: 'listening', data: '{"processes":1}' }
      yield { event: 'requests', data: JSON.stringify({ requests: [running], passed: 2, processes: 1 }) }
      t.equal(liveFeed.state(), 'Listening')
      t.same(liveFeed.rows(), [running])
      left.abort()
    },
  }
  t.teardown(() => liveFeed.forget())
  await liveFeed.listen(gateway, '/admin/live', left.signal)
  t.equal(liveFeed.state(), 'Not listening')
  t.same([liveFeed.find('r1'), liveFeed.passed()], [{ ...running, lost: true }, 2])
})

t.test('each check of evidence has plain words', async (t) => {
  const folder = 'plugins/sealed/evidence'
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(names.map((name) => readFile(`${folder}/${name}`, 'utf8')))
  const ids = new Set(texts.flatMap((text) => [...text.matchAll(/checks\.run\('([^']+)'/g)].map(([, id = '']) => id)))
  t.ok(ids.size > 15)
  for (const id of ids) t.match(checkWords(id), /^[A-Z].+\.$/, id)
  t.equal(checkWords('toString'), 'toString')
})

t.test('a key of files is known in each of its forms', (t) => {
  const kek = newKek()
  for (const text of [kek, ` ${kek}\n`, recoveryCode(kek), JSON.stringify({ kek, wrapped_rag_dek: null }, null, 2)])
    t.equal(holdsKek(text), true)
  for (const text of ['', 'herons', kek.slice(1), `${kek} herons`, '{"kek":null}']) t.equal(holdsKek(text), false)
  t.end()
})

t.test('what the gateway sees of a body is told as it stands there', (t) => {
  const seen = (text: string, type: string) => seenBody(new TextEncoder().encode(text), type)
  const hex = 'ab'.repeat(40)
  t.same(seen(JSON.stringify({ nonce: hex, model: 'm' }), 'application/json'), {
    bytes: 104,
    fields: [
      { name: 'nonce', shown: `40 bytes: ${hex.slice(0, 24)}…` },
      { name: 'model', shown: 'm' },
    ],
  })
  t.same(seen('{"data":{"id":"file_1"}}', 'application/json').fields, [{ name: 'id', shown: 'file_1' }])
  t.same(seen('no json', 'application/json').fields, [])
  t.same(seen(`event: data\ndata: ${hex}\n\nevent: done\ndata: [DONE]\n\n`, 'text/event-stream').fields.length, 1)
  const form = `--b\r\ncontent-disposition: form-data; name="kid"\r\n\r\nk1\r\n--b\r\ncontent-disposition: form-data; name="encrypted_content"; filename="sealed"\r\ncontent-type: application/octet-stream\r\n\r\n12345\r\n--b--\r\n`
  t.same(seen(form, 'multipart/form-data; boundary=b').fields, [
    { name: 'kid', shown: 'k1' },
    { name: 'encrypted_content', shown: '5 bytes' },
  ])
  t.end()
})

t.test('a token of the own machine is taken once from the address', (t) => {
  const token = `own_${'a'.repeat(43)}`
  const gone: string[] = []
  const history = { replaceState: (_: unknown, __: string, url: string) => void gone.push(url) } as unknown as History
  const at = (hash: string) => takenToken({ hash, pathname: '/console' } as Location, history)
  t.equal(at(`#${token}`), token)
  t.same(gone, ['/console'])
  for (const hash of ['', '#/home', `#${token}a`, `#/${token}`]) t.equal(at(hash), null)
  t.same(gone, ['/console'], 'another address stays')
  t.equal(isOwnToken(`sk_live_${'1'.repeat(44)}`), false)
  t.end()
})

const scene = (name: string, mark: DrillScene['mark'], caller: Partial<DrillScene['caller']> = {}): DrillScene => ({
  ...{ scene: name, title: `title of ${name}`, mark, note: '', asked: 1 },
  caller: { status: 200, characters: 326, ending: 'whole', first_token: 10, ms: 1_200, ...caller },
})

t.test('a drill is compared with the last whole run of its model', (t) => {
  const begins = {
    ...{ model: 'm', backends: 1, retries: 0, continues: false },
    scenes: ['S01', 'S02', 'S03', 'S04'].map((name) => ({ scene: name, title: `title of ${name}` })),
  }
  const ran = (at: number, ...all: readonly DrillScene[]) => ({
    ...drillRuns.begun(begins, at),
    results: new Map(all.map((scene) => [scene.scene, scene])),
  })
  const first = ran(1, scene('S01', 'pass'), scene('S02', 'safe'), scene('S03', 'pass'))
  t.same(changeWords(first), ['This tab has seen no run of this model before.'])
  drillRuns.keep(first)
  t.match(changeWords(ran(2, scene('S01', 'pass'))), [/^Every mark is that of the run at /])
  const second = ran(2, scene('S01', 'fail'), scene('S02', 'partial'), scene('S03', 'pass'), scene('S04', 'pass'))
  t.match(changeWords(second), [
    /^S01, title of S01: fail, worse than pass in the run at /,
    /^S02, title of S02: partial, better than safe in the run at /,
  ])
  t.same(
    drillRows(second).map(({ before }) => before),
    ['pass', 'safe', 'pass', null],
  )
  t.same(markCounts(second), { pass: 2, partial: 1, safe: 0, fail: 1 })
  drillRuns.keep(second)
  t.equal(drillRuns.begun(begins, 3).before?.at, 2)
  t.equal(drillRuns.begun(begins, 3).before?.before, null, 'one run before is enough')
  t.equal(drillRuns.begun({ ...begins, model: 'other' }, 3).before, null)
  drillRuns.forget()
  t.equal(drillRuns.last('m'), null)
  t.end()
})

t.test('what a caller of a drill saw is told in words', (t) => {
  t.equal(sightWords(scene('S01', 'pass')), '200: 326 characters, in 1.2 s')
  t.equal(
    sightWords(scene('S01', 'safe', { characters: 0, ending: 'error', status: 502, ms: 40 })),
    '502: an error, in 40 ms',
  )
  t.equal(
    sightWords(scene('S01', 'fail', { characters: 12, ending: 'broken', ms: null })),
    '200: 12 characters, then a broken connection',
  )
  t.equal(sightWords(scene('C01', 'pass', { status: null, ending: 'left', ms: null })), 'the caller left')
  t.end()
})
