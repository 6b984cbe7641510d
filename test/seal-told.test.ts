import './fakes/unwatched.ts'
import t, { type Test } from 'tap'
import type { SettingsInput } from '../core/settings.ts'
import { backends, eventsOf, opened } from './fakes/doors.ts'
import { sealing } from './fakes/proxied.ts'
import { sealedDoors } from './fakes/sealed-doors.ts'
import { scripted } from './fakes/scripted.ts'

type Json = Record<string, any>

const talk = scripted(() => [{ say: 'Hi there.' }])
const names = Object.fromEntries(backends.map((name) => [name, name]))

/** A gateway whose models are sealed, behind a proxy that seals. */
const sealed = async (t: Test, more: SettingsInput = {}) => {
  const doors = await sealedDoors(t, talk, names, more)
  const { url } = await sealing(t, ['--base-url', doors.base, '--allow-insecure-dev'], { SEALGATE_KEY: doors.key })
  const base = url.replace(/\/v1$/, '')
  return (path: string, body: Json) => fetch(base + path, { method: 'POST', body: JSON.stringify(body) })
}

const hello = [{ role: 'user', content: 'Hi' }]
const parts = [{ role: 'user', parts: [{ text: 'Hi' }] }]

/** A request of each door with a word that no backend has a place for. */
const losing = (model: string): readonly (readonly [path: string, body: Json])[] => [
  ['/v1/messages', { model, max_tokens: 9, messages: hello, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }], // prettier-ignore
  ['/v1/responses', { model, input: 'Hi', tools: [{ type: 'web_search' }] }],
  [`/v1beta/models/${model}:generateContent`, { contents: parts, tools: [{ googleSearch: {} }] }],
]

t.test('what a backend has no place for is told under the seal as in the clear', async (t) => {
  const post = await sealed(t)
  const clear = await opened(t, talk)
  let told = 0
  for (const model of backends)
    for (const [path, body] of losing(model))
      for (const stream of path.includes('v1beta') ? [false] : [false, true]) {
        const asked = path.includes('v1beta') ? body : { ...body, stream }
        const [hidden, open] = [await post(path, asked), await clear.call('POST', path, asked)]
        const label = `${model} by ${path}${stream ? ', streamed' : ''}`
        t.same([hidden.status, open.status], [200, 200], label)
        const dropped = open.headers.get('x-sealgate-dropped')
        t.equal(hidden.headers.get('x-sealgate-dropped'), dropped, label)
        if (dropped !== null) told++
        await Promise.all([hidden.text(), open.text()])
      }
  t.ok(told >= 20, `${told} answers told something`)
})

t.test('a body over the limit is a 413 of its dialect through the seal', async (t) => {
  const post = await sealed(t, { bodies: { chat: 2_000 } })
  const long = 'x'.repeat(9_000)
  const text = [{ role: 'user', content: long }]
  for (const [path, body] of [
    ['/v1/chat/completions', { model: 'chat', messages: text }],
    ['/v1/responses', { model: 'chat', input: long }],
    ['/v1/messages', { model: 'chat', max_tokens: 9, messages: text }],
    ['/v1beta/models/chat:generateContent', { contents: [{ role: 'user', parts: [{ text: long }] }] }],
  ] as const)
    for (const stream of [false, true]) {
      const answer = await post(path, path.includes('v1beta') ? body : { ...body, stream })
      t.equal(answer.status, 413, `${path}${stream ? ', streamed' : ''}: ${await answer.text()}`)
    }
})

t.test('chunks from under the seal have no member that is null, and usage where it is asked for', async (t) => {
  const post = await sealed(t)
  const nulls = (value: unknown, path = ''): readonly string[] =>
    value === null
      ? [path]
      : typeof value === 'object'
        ? Object.entries(value!).flatMap(([name, part]) => nulls(part, `${path}.${name}`))
        : []
  for (const model of backends)
    for (const usage of [false, true]) {
      const more = usage ? { stream_options: { include_usage: true } } : {}
      const answer = await post('/v1/chat/completions', { model, messages: hello, stream: true, ...more })
      const chunks = eventsOf((await answer.text()).replace('data: [DONE]\n\n', ''))
      const found = new Set(chunks.flatMap((chunk) => nulls(chunk)))
      found.delete('.choices.0.finish_reason')
      t.same([...found], [], `${model}: ${usage}`)
      t.equal(chunks.some((chunk) => 'usage' in chunk), usage, `${model}: usage`) // prettier-ignore
    }
})

t.test('each error of Messages has its request id, under the seal too', async (t) => {
  const post = await sealed(t)
  for (const [status, body] of [
    [404, { model: 'none', max_tokens: 9, messages: hello }],
    [400, { model: 'chat', max_tokens: 9, messages: 'none' }],
    [400, { model: 'chat' }],
  ] as const) {
    const answer = await post('/v1/messages', body)
    t.equal(answer.status, status, await answer.text())
    t.match(answer.headers.get('request-id'), /^[0-9a-f-]{36}$/)
  }
})
