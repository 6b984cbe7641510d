import t from 'tap'
import { doors, type Door } from './fakes/callers.ts'
import { opened, type Backend } from './fakes/doors.ts'
import type { Take } from './fakes/recorded.ts'
import { isAnswer, recordings, takeOf, textOf } from './fakes/recordings.ts'

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

t.test('recordings of other libraries say and call the same by every door', async (t) => {
  let playing: Take = { body: '' }
  const it = await opened(t, () => playing, {}, settings)
  const counts = { equal: 0 }
  for (const recording of recordings.filter(isAnswer)) {
    const { name, dialect, stream } = recording
    playing = takeOf(recording)
    const read = await readBy(doors[own[dialect]]!, textOf(recording), stream)
    const whole = joined[name.replace(/^.*\/|\.chunks\.txt$/g, '')]
    const said = isThinking.test(name) ? { ...read, text: '2 + 2 = 4' } : read
    const expected = whole === undefined ? said : { ...said, calls: whole }
    for (const [by, door] of Object.entries(doors)) {
      if (withoutCustom.has(by) && /custom.tool/.test(name)) continue
      if (whole !== undefined && by === 'gemini') continue
      if (isThinking.test(name) && doors[by]!.path(stream).endsWith('/chat/completions')) continue
      const label = `${name} by ${by}`
      const body = { ...door.first(stream), ...(by !== 'gemini' && { model: dialect }) }
      const answer = await it.call('POST', door.path(stream).replace('talk', dialect), body)
      const text = await answer.text()
      if (answer.status !== 200) {
        t.fail(`${label}: ${answer.status} ${text.slice(0, 200)}`)
        continue
      }
      try {
        const found = await readBy(door, text, stream)
        if (JSON.stringify(found) === JSON.stringify(expected)) counts.equal++
        else t.same(found, expected, label)
      } catch (error) {
        t.fail(`${label}: ${String(error)} ${text.slice(-300)}`)
      }
    }
  }
  t.ok(counts.equal > 1_000, `${counts.equal} answers are equal`)
})
