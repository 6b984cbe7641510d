import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { type Measured, type Subject, measure, start } from '../measure.ts'
import { type Peer, liteLlm, startPeers } from '../peers.ts'
import { startedGateway } from '../spawned.ts'
import { faults, faultyBackend, holds } from './faults.ts'
import { drawn } from './drawn.ts'

/** `npm run compare`: sealgate as `npm start` runs it, beside gateways and proxies of others, one machine and one run. */
const key = `sk_live_${'2'.repeat(44)}`
const headers = { authorization: `Bearer ${key}` }
const rounds = Number(process.env['SEALGATE_ROUNDS'] ?? 5)

const configOf = (upstream: string) => ({
  providers: { openai: { use: 'openai', baseUrl: `${upstream}/v1`, apiKey: 'none' } },
  models: { bench: { upstreams: [{ provider: 'openai' }] } },
  routing: { retries: 0 },
})

const ourselves = async (upstream: string): Promise<Peer> => {
  const began = performance.now()
  const subject = await startedGateway(configOf(upstream), key)
  return { name: 'sealgate', subject, headers, started: performance.now() - began }
}

const everyone = async (upstream: string): Promise<readonly Peer[]> => [
  await ourselves(upstream),
  ...(await startPeers(upstream)),
  ...(process.env['SEALGATE_COMPARE'] === 'npm' ? [] : await liteLlm(upstream)),
]

const messages = [{ role: 'user', content: 'Say words. '.repeat(60) }]
const load = (stream: boolean) => ({
  path: '/v1/chat/completions',
  body: JSON.stringify({ model: 'bench', stream, messages }),
  ...(stream ? { requests: 80, concurrency: 20, mark: 'word0' } : { requests: 500, concurrency: 8 }),
})

const middle = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!

const play = async ({ subject, headers }: Peer, stream: boolean): Promise<Measured> =>
  measure(subject, { ...load(stream), headers })

/** One row of the table. */
export interface Row {
  readonly name: string
  readonly request: number
  readonly event: number
  readonly first: number
  readonly memory: number
  readonly start: number
  readonly faults: number
}

const events = 100

const upstream: Subject = await start('upstream')
const speed = new Map<string, { whole: Measured[]; streams: Measured[]; memory: number; start: number }>()
const field = await everyone(upstream.base)
for (const { name, started } of field) speed.set(name, { whole: [], streams: [], memory: 0, start: started })
// The first round warms up and does not count.
for (let round = 0; round <= rounds; round++)
  for (const peer of field) {
    const [whole, streams] = [await play(peer, false), await play(peer, true)]
    if (round === 0) continue
    const own = speed.get(peer.name)!
    own.whole.push(whole)
    own.streams.push(streams)
    own.memory = await peer.subject.memory()
  }
await Promise.all([...field.map(({ subject }) => subject.stop()), upstream.stop()])

const backend = await faultyBackend()
const second = await everyone(backend.base)
const right = new Map<string, readonly boolean[]>()
for (const peer of second) {
  const verdicts: boolean[] = []
  for (const name of Object.keys(faults)) verdicts.push(await holds(peer, name, backend.left))
  right.set(peer.name, verdicts)
}
await Promise.all(second.map(({ subject }) => subject.stop()))
backend.stop()

const rows: readonly Row[] = field.map(({ name }) => {
  const { whole, streams, memory, start } = speed.get(name)!
  return {
    name,
    request: middle(whole.map(({ cpu }) => cpu)),
    event: middle(streams.map(({ cpu }) => cpu / events)),
    first: middle(streams.map(({ first }) => first)),
    memory: memory / 1e6,
    start,
    faults: right.get(name)!.filter(Boolean).length,
  }
})

const told = ({ name, request, event, first, memory, start, faults: held }: Row): string =>
  `| ${name} | ${request.toFixed(0)} | ${event.toFixed(1)} | ${first.toFixed(1)} | ${memory.toFixed(0)} | ${start.toFixed(0)} | ${held} |`
const names = rows.map(({ name }) => name)
const table = [
  `By \`npm run compare\`: ${rounds} rounds on ${cpus().length} cores (${cpus()[0]!.model}), Node ${process.versions.node}; the middle of each. sealgate checks a key, counts and logs, as \`npm start\` does; the proxies only pass on.`,
  '',
  '| | CPU µs a request | CPU µs an event | First token, ms | Memory, MB | Start, ms | Faults of eight that are right |',
  '| --- | --- | --- | --- | --- | --- | --- |',
  ...rows.map(told),
  '',
  `| Fault | ${names.join(' | ')} |`,
  `| --- |${' --- |'.repeat(names.length)}`,
  ...Object.keys(faults).map(
    (fault, at) => `| ${fault} | ${names.map((name) => (right.get(name)![at] ? 'yes' : 'no')).join(' | ')} |`,
  ),
].join('\n')
console.log(table)

const page = await readFile('docs/compared.md', 'utf8')
const [before, after] = [page.split('<!-- peers -->')[0], page.split('<!-- end of peers -->')[1]]
if (before === undefined || after === undefined) throw new Error('docs/compared.md has no place for the table')
await writeFile('docs/compared.md', `${before}<!-- peers -->\n\n${table}\n\n<!-- end of peers -->${after}`)
await writeFile('docs/compared.svg', drawn(rows))
