import { readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { backends, opened } from './fakes/doors.ts'
import { scripted } from './fakes/scripted.ts'
import type { RecordedRequest } from './programs/recorded-requests.ts'

const folder = new URL(`${/\/dist\/test\//.test(import.meta.url) ? '../' : ''}../test/vectors/agents/`, import.meta.url)

interface Recorded {
  readonly program: string
  readonly version: string
  readonly requests: readonly RecordedRequest[]
}

const corpus = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recorded)

/** The names of all tools that a body of any dialect offers. */
const offered = (body: unknown): readonly string[] =>
  [...JSON.stringify(body).matchAll(/"name":"([\w-]+)"/g)].map(([, name]) => name!)

t.test('the corpus has the programs, and nothing of the machine that recorded them', (t) => {
  t.ok(corpus.length >= 6)
  const text = JSON.stringify(corpus)
  t.notMatch(text, /\/(?:tmp|root|work)\/|sk_live|sk-ant|Bearer /)
  for (const { program, requests } of corpus) t.ok(requests.length >= 3, program)
  t.end()
})

for (const { program, version, requests } of corpus) {
  t.test(`no request of ${program} ${version} is refused, before any backend`, async (t) => {
    const model = ({ path, body }: RecordedRequest): string =>
      body['model'] ?? decodeURIComponent(/models\/([^:/]+):/.exec(path)![1]!)
    for (const backend of backends) {
      const names = Object.fromEntries(requests.map((request) => [model(request), backend] as const))
      const doors = await opened(
        t,
        scripted(() => [{ say: 'Well.' }]),
        names,
      )
      for (const [at, { path, headers, body }] of requests.entries()) {
        const answer = await fetch(doors.base + path, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${doors.key}` },
          body: JSON.stringify(body),
        })
        const text = await answer.text()
        t.equal(answer.status, 200, `${path} ${at} before ${backend}: ${answer.status === 200 ? '' : text}`)
        if (offered(body).length === 0 || /count/i.test(path)) continue
        const got = offered(doors.asked())
        const tools = offered({ tools: body['tools'] ?? [] })
        for (const name of tools)
          t.ok(
            got.some((text) => text.endsWith(name)),
            `${backend} is offered ${name}`,
          )
      }
    }
  })
}
