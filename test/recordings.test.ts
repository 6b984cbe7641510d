import './fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { doors, type Door } from './fakes/callers.ts'
import { backends, opened, type Backend } from './fakes/doors.ts'
import { sealing } from './fakes/proxied.ts'
import type { Take } from './fakes/recorded.ts'
import { type Recording, isAnswer, recordings, takeOf, textOf } from './fakes/recordings.ts'
import { sealedDoors } from './fakes/sealed-doors.ts'

const own: Readonly<Record<Backend, string>> = {
  chat: 'chat completions',
  responses: 'responses',
  messages: 'messages',
  gemini: 'gemini',
}

/** What an answer says and which tools it calls, as the client of one dialect reads it. */
const readBy = async (door: Door, text: string, stream: boolean) => {
  const answer = await door.read(text, stream)
  return { text: door.text(answer), calls: door.used(answer) }
}

/** No recording has a say in how the next one is asked. */
const routing = { retries: 0, breaker: { faults: 10_000, ratio: 1 } }
const unlimited = { requestsPerSecond: null, tokensPerMinute: null }
const settings = { limits: { key: unlimited, organization: unlimited }, routing }

/** Doors by which nobody offers a tool whose calls are free text. */
const withoutCustom = new Set(['messages', 'gemini'])

/** Calls whose arguments come in pieces, which no client of the vendor joins. */
const joined: Readonly<Record<string, readonly unknown[]>> = {
  'google-stream-no-args-tool-call': [['read_theme', {}], ...['A', 'B', 'C'].map((id) => ['read_screen', { id }])],
  'google-stream-tool-call-arguments': ['Boston', 'San Francisco'].map((location) => ['getWeather', { location }]),
  'google-stream-tool-call-array-arguments-missing-terminal-function-call': [
    [
      'writeItems',
      {
        operations: [
          { action: 'add', description: 'Fresh red apple', itemid: 'apple_001', price: 0.5 },
          { action: 'add', description: 'Ripe yellow banana', itemid: 'banana_001', price: 0.3 },
        ],
      },
    ],
  ],
}

/** Its deltas are lists of parts, which no stock client joins. */
const isThinking = /mistral-reasoning\.chunks/

t.setTimeout(300_000)

/** Sends a body to a door, in the clear or by a proxy that seals. */
type Post = (path: string, body: object) => Promise<Response>

/** What each door should tell of a recording. */
const expectedOf = async (recording: Recording) => {
  const { name, dialect, stream } = recording
  const read = await readBy(doors[own[dialect]]!, textOf(recording), stream)
  const whole = joined[name.replace(/^.*\/|\.chunks\.txt$/g, '')]
  const answer = isThinking.test(name) ? { ...read, text: '2 + 2 = 4' } : read
  return whole === undefined ? answer : { ...answer, calls: whole }
}

/** Doors by which a stock client can read the recording. */
const doorsOf = ({ name, stream }: Recording) =>
  Object.entries(doors).filter(
    ([by, { path }]) =>
      !(withoutCustom.has(by) && /custom.tool/.test(name)) &&
      !(joined[name.replace(/^.*\/|\.chunks\.txt$/g, '')] !== undefined && by === 'gemini') &&
      !(isThinking.test(name) && path(stream).endsWith('/chat/completions')),
  )

/** Asks by one door; true where its client reads what is expected. */
const isEqual = async (t: Test, { name, dialect, stream }: Recording, by: string, expected: unknown, post: Post) => {
  const door = doors[by]!
  const label = `${name} by ${by}`
  const body = { ...door.first(stream), ...(by !== 'gemini' && { model: dialect }) }
  const answer = await post(door.path(stream).replace('talk', dialect), body)
  const text = await answer.text()
  if (answer.status !== 200) return t.fail(`${label}: ${answer.status} ${text.slice(0, 200)}`)
  try {
    const found = await readBy(door, text, stream)
    return JSON.stringify(found) === JSON.stringify(expected) || t.same(found, expected, label)
  } catch (error) {
    return t.fail(`${label}: ${String(error)} ${text.slice(-300)}`)
  }
}

t.test('recordings of other libraries say and call the same by every door', async (t) => {
  let playing: Take = { body: '' }
  const doors = await opened(t, () => playing, {}, settings)
  let equal = 0
  for (const recording of recordings.filter(isAnswer)) {
    playing = takeOf(recording)
    const expected = await expectedOf(recording)
    for (const [by] of doorsOf(recording))
      if (await isEqual(t, recording, by, expected, (path, body) => doors.call('POST', path, body))) equal++
  }
  t.ok(equal > 1_000, `${equal} answers are equal`)
})

t.test('recordings say and call the same from under the seal', async (t) => {
  let playing: Take = { body: '' }
  const names = Object.fromEntries(backends.map((name) => [name, name]))
  const doors = await sealedDoors(t, () => playing, names, settings)
  const { url } = await sealing(t, ['--base-url', doors.base, '--allow-insecure-dev'], { SEALGATE_KEY: doors.key })
  const base = url.replace(/\/v1$/, '')
  const post: Post = (path, body) => fetch(base + path, { method: 'POST', body: JSON.stringify(body) })
  let equal = 0
  // A sealed call takes a key exchange, so each eighth recording stands for its neighbours. Tools of free text are sealed as functions.
  const sealable = recordings.filter((recording) => isAnswer(recording) && !/custom.tool/.test(recording.name))
  for (const recording of sealable.filter((_, at) => at % 8 === 0)) {
    playing = takeOf(recording)
    const expected = await expectedOf(recording)
    for (const [by] of doorsOf(recording))
      if (by !== 'standard' && (await isEqual(t, recording, by, expected, post))) equal++
  }
  t.ok(equal > 120, `${equal} answers are equal`)
})
