import '../../fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { fetch as network } from '../../../adapters/production/platform.ts'
import { use } from '../../../core/plugin.ts'
import { backend } from '../../contracts/stage.ts'
import { running, unhurried } from '../../environments.ts'
import { doors } from '../../fakes/callers.ts'
import { backends, eventsOf, opened } from '../../fakes/doors.ts'
import type { Take } from '../../fakes/recorded.ts'
import { recordings, takeOf, textOf } from '../../fakes/recordings.ts'
import { scripted } from '../../fakes/scripted.ts'
import { answers, answersOf, vendorAnswer, vendors, vendorsAt } from '../../fakes/vendor-answers.ts'
import { type Judge, type Kind, judgeBy } from './openai-judge.ts'
import { type Verdicts, verdictsOf } from './verdicts.ts'

/**
 * `npm run judge:openai -- FILE`: OpenAI's own openapi.json, a file of the user, judges each body and each event of chat
 * completions and Responses that gateways give by the answers of all recorded backends.
 */
const file = process.argv[2]

type Json = Record<string, any>
type Ask = (path: string, body: Json) => Promise<Response>

interface Court {
  readonly judge: Judge
  readonly verdicts: Verdicts
}

const kinds: Readonly<Record<string, readonly [whole: Kind, event: Kind]>> = {
  '/v1/chat/completions': ['chat', 'chunk'],
  '/v1/responses': ['response', 'event'],
}

/** What one text holds, and as what each of it is judged. */
const objectsIn = (path: string, text: string): readonly (readonly [Kind, Json])[] => {
  const [whole, event] = kinds[path]!
  const isStream = /^\s*(data|event|id|:)/.test(text)
  const all = isStream ? eventsOf(text.replace(/data: ?\[DONE\]\s*/, '')) : [JSON.parse(text) as Json]
  return all.map((value) => {
    const isError = value['error'] != null && value['object'] === undefined && value['type'] === undefined
    return [isError ? 'error' : isStream ? event : whole, value]
  })
}

/** Judges all that one answer holds. Its relayed bytes may have the faults that the vendor's own text has. */
const judged = async (
  { judge, verdicts }: Court,
  label: string,
  path: string,
  response: Response,
  relayed: string | null = null,
): Promise<void> => {
  const text = await response.text()
  const own = new Set(
    relayed === null ? [] : objectsIn(path, relayed).flatMap(([kind, value]) => judge.judge(kind, value)),
  )
  for (const [at, [kind, value]] of objectsIn(path, text).entries()) {
    const faults = judge.judge(kind, value).filter((fault) => !own.has(fault))
    const name = `${label} ${at}`
    const reasons = faults.map((fault) => Object.keys(harmless).find((reason) => harmless[reason]!.test(fault)))
    if (faults.length > 0 && reasons.includes(undefined)) verdicts.failed(name, faults.join('; '))
    else if (reasons[0] !== undefined) verdicts.absent(name, reasons[0])
    else if (judge.judge(kind, value).length === 0) verdicts.passed(name)
    else verdicts.absent(name, 'are so in the bytes of the vendor, which are relayed')
  }
}

/** Faults that say nothing against an answer. */
const harmless: Readonly<Record<string, RegExp>> = {
  'call a tool by free text in a stream, which OpenAI does and the file leaves out':
    /^\/choices\/0\/delta\/tool_calls\/0\/type /,
  'cite a page whose place the vendor does not tell':
    /^\/choices\/0\/message\/annotations\/\d+\/url_citation must have required property '(end_index|start_index|title)'/,
}

const unlimited = { requestsPerSecond: null, tokensPerMinute: null }
const settings = {
  ...unhurried,
  limits: { key: unlimited, organization: unlimited },
  routing: { retries: 0, breaker: { faults: 1_000_000, ratio: 1 } },
}
const ways = ['chat completions', 'responses'] as const
/** The dialect of a backend whose bytes go on. */
const spoken = { 'chat completions': 'chat', responses: 'responses' } as const

/** Recordings of other libraries, by both doors. */
const playRecordings = async (t: Test, court: Court): Promise<void> => {
  let playing: Take = { body: '' }
  const gateway = await opened(t, () => playing, {}, settings)
  for (const recording of recordings) {
    playing = takeOf(recording)
    for (const way of ways) {
      const { path, first } = doors[way]!
      const body = { ...first(recording.stream), model: recording.dialect }
      const at = path(recording.stream)
      const relayed = recording.dialect === spoken[way] ? textOf(recording) : null
      await judged(court, `${recording.name} by ${way}`, at, await gateway.call('POST', at, body), relayed)
    }
  }
}

/** Recorded answers and refusals of vendors, by both doors. */
const playVendors = async (t: Test, court: Court): Promise<void> => {
  let played: Take = { body: '' }
  const { url } = await backend(t, (request) => (played = vendorAnswer(request)))
  const names = vendors.flatMap((provider) =>
    answers.map((model) => [`${provider}-${model}`, provider, model] as const),
  )
  const models = Object.fromEntries(
    names.map(([name, provider, model]) => [name, { upstreams: [{ provider, model }] }]),
  )
  const parts = { ...memory(), fetch: use(network), upstreams: vendorsAt(url) }
  const gateway = await running(t, parts, { ...settings, models })
  for (const vendor of vendors)
    for (const answer of answersOf(vendor))
      for (const stream of [false, true])
        for (const way of ways) {
          const { path, first } = doors[way]!
          const body = { ...first(stream), model: `${vendor}-${answer}` }
          const label = `${vendor} ${answer}${stream ? ', streamed' : ''} by ${way}`
          const response = await gateway.call('POST', path(stream), body)
          const relayed =
            way === 'chat completions' && !['anthropic', 'gemini'].includes(vendor) ? String(played.body) : null
          await judged(court, label, path(stream), response, relayed)
        }
}

const talk = scripted((turn) =>
  turn < 2
    ? [{ think: 'A thought.' }, { say: 'Let me see.' }, { call: 'weather', args: { city: 'Rome' } }]
    : [{ think: 'Enough.' }, { say: 'It is mild.' }],
)

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const user = [{ role: 'user', content: 'Hi' }]

/** Requests that ask for more than a word. */
const wishes: Readonly<Record<(typeof ways)[number], readonly Json[]>> = {
  'chat completions': [
    { stream_options: { include_usage: true } },
    { response_format: { type: 'json_schema', json_schema: { name: 'city', schema, strict: true } } },
    { response_format: { type: 'json_object' } },
    { tool_choice: 'required', parallel_tool_calls: false, reasoning_effort: 'low' },
    { logprobs: true, top_logprobs: 2 },
    { metadata: { a: 'b' }, service_tier: 'default', seed: 1, stop: ['x'], n: 1 },
  ],
  responses: [
    { reasoning: { effort: 'low', summary: 'auto' } },
    { text: { format: { type: 'json_schema', name: 'city', schema, strict: true }, verbosity: 'low' } },
    { text: { format: { type: 'json_object' } } },
    { tool_choice: 'required', parallel_tool_calls: false, max_output_tokens: 99 },
    { tool_choice: { type: 'function', name: 'weather' }, top_logprobs: 2, include: ['message.output_text.logprobs'] },
    { metadata: { a: 'b' }, service_tier: 'default', temperature: 0.5, top_p: 0.5, truncation: 'auto' },
    { tools: [{ type: 'custom', name: 'weather', format: { type: 'text' } }] },
  ],
}

/** Requests that are refused. */
const wrong: readonly Json[] = [
  { model: 'nobody' },
  { messages: 7, input: 7 },
  { temperature: 'hot' },
  { messages: [{ role: 'nobody', content: 'Hi' }], input: [{ role: 'nobody', content: 'Hi' }] },
  { top_logprobs: -1 },
  { stream: 'yes' },
]

/** Conversations with tools and thoughts, special wishes and refusals, by backends of each dialect. */
const playScripts = async (t: Test, court: Court): Promise<void> => {
  const gateway = await opened(t, talk, {}, settings)
  const post: Ask = (path, body) => gateway.call('POST', path, body)
  for (const model of backends)
    for (const way of ways)
      for (const stream of [false, true]) {
        const door = doors[way]!
        const label = `${model} by ${way}${stream ? ', streamed' : ''}`
        let body: Json = { ...door.first(stream), model }
        for (let turn = 0; turn < 3; turn++) {
          const response = await post(door.path(stream), body)
          const answer = await door.read(await response.clone().text(), stream)
          await judged(court, `${label}, turn ${turn}`, door.path(stream), response)
          body = door.next(body, answer, door.calls(answer))
        }
        for (const [at, wish] of [...wishes[way], ...wrong].entries()) {
          const asked = { ...door.first(stream), model, ...wish }
          await judged(court, `${label}, wish ${at}`, door.path(stream), await post(door.path(stream), asked))
        }
      }
}

/** What one whole answer of OpenAI's own may hold beside a text. */
const refused = { role: 'assistant', content: null, refusal: 'I can’t help with that.' }
const chatTake = (message: Json, finish_reason: string): Take => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-own' },
    choices: [{ index: 0, message, finish_reason }],
  }),
})

/** Refusals of the model, cut answers, and a caller without a key. */
const playRefusals = async (t: Test, court: Court): Promise<void> => {
  let playing = chatTake(refused, 'stop')
  const gateway = await opened(t, () => playing, {}, settings)
  for (const [message, finish] of [
    [refused, 'stop'],
    [{ role: 'assistant', content: 'Half' }, 'length'],
    [{ role: 'assistant', content: '' }, 'content_filter'],
  ] as const) {
    playing = chatTake(message, finish)
    for (const way of ways)
      for (const stream of [false, true]) {
        const { path, first } = doors[way]!
        const response = await gateway.call('POST', path(stream), { ...first(stream), model: 'chat' })
        await judged(court, `${finish} by ${way}${stream ? ', streamed' : ''}`, path(stream), response)
      }
  }
  for (const path of Object.keys(kinds)) {
    const body = JSON.stringify({ model: 'chat', messages: user, input: 'Hi' })
    await judged(court, `no key at ${path}`, path, await fetch(gateway.base + path, { method: 'POST', body }))
  }
}

t.setTimeout(900_000)

t.test(
  'OpenAI’s openapi.json over each body and event of chat completions and Responses',
  { skip: file === undefined && 'npm run judge:openai -- FILE plays it', timeout: 900_000 },
  async (t) => {
    const judge = await judgeBy(file!)
    const verdicts = verdictsOf('OpenAI’s openapi.json, bodies and events')
    const court = { judge, verdicts }
    await playRecordings(t, court)
    await playVendors(t, court)
    await playScripts(t, court)
    await playRefusals(t, court)
    await verdicts.told(t)
  },
)
