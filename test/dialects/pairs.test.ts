import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, Type, type FunctionCall, type GenerateContentResponse, type Part } from '@google/genai'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { readFile } from 'node:fs/promises'
import { doors } from '../fakes/callers.ts'
import { behind, opened, own, type Behind } from '../fakes/doors.ts'
import { sealing } from '../fakes/proxied.ts'
import type { Asked, Take } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'
import { sealedDoors } from '../fakes/sealed-doors.ts'
import { told, weatherSchema as schema, weatherScript } from '../fakes/weather.ts'

interface Reached {
  readonly base: string
  readonly key: string
}

/** A client of one door that goes through all turns; gives back what it was told at last. */
type Client = (gateway: Reached, model: Behind, stream: boolean) => Promise<string>

const clients: Readonly<Record<string, Client>> = {
  async 'chat completions'(gateway, model, stream) {
    const client = new OpenAI({ baseURL: `${gateway.base}/v1`, apiKey: gateway.key, maxRetries: 0 })
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather?' }]
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { ...schema } } }]
    for (;;) {
      const asked = { model, messages, tools }
      const { choices } = stream
        ? await client.chat.completions
            .stream({ ...asked, stream_options: { include_usage: true } })
            .finalChatCompletion()
        : await client.chat.completions.create(asked)
      const { message } = choices[0]!
      if (message.tool_calls === undefined) return message.content!
      messages.push(message)
      for (const call of message.tool_calls) {
        if (call.type !== 'function') throw new Error(call.type)
        messages.push({ role: 'tool', tool_call_id: call.id, content: told(JSON.parse(call.function.arguments).city) })
      }
    }
  },

  async responses(gateway, model, stream) {
    const client = new OpenAI({ baseURL: `${gateway.base}/v1`, apiKey: gateway.key, maxRetries: 0 })
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Weather?' }]
    const tools = [{ type: 'function' as const, name: 'weather', parameters: { ...schema }, strict: false }]
    for (;;) {
      const asked = { model, input, tools, store: false, include: ['reasoning.encrypted_content' as const] }
      const response = stream
        ? await client.responses.stream(asked).finalResponse()
        : await client.responses.create(asked)
      const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
      if (calls.length === 0) return response.output_text
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]))
      for (const { call_id, arguments: json } of calls) {
        input.push({ type: 'function_call_output', call_id, output: told(JSON.parse(json).city) })
      }
    }
  },

  async messages(gateway, model, stream) {
    const client = new Anthropic({ baseURL: gateway.base, apiKey: gateway.key, maxRetries: 0 })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather?' }]
    const tools = [{ name: 'weather', input_schema: schema }]
    for (;;) {
      const asked = { model, messages, tools, max_tokens: 4096 }
      const answer = stream ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked)
      const calls = answer.content.filter((block) => block.type === 'tool_use')
      if (calls.length === 0) return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      const content = calls.map(({ id, input }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: told((input as { city: string }).city),
      }))
      messages.push(
        { role: 'assistant', content: answer.content as Anthropic.ContentBlockParam[] },
        { role: 'user', content },
      )
    }
  },

  async gemini(gateway, model, stream) {
    const client = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.base } })
    const parameters = { type: Type.OBJECT, properties: { city: { type: Type.STRING } } }
    const tools = [{ functionDeclarations: [{ name: 'weather', parameters }] }]
    const chat = client.chats.create({ model, config: { tools } })
    let message: string | Part[] = 'Weather?'
    for (;;) {
      let text = ''
      const calls: FunctionCall[] = []
      const answers: AsyncIterable<GenerateContentResponse> | GenerateContentResponse[] = stream
        ? await chat.sendMessageStream({ message })
        : [await chat.sendMessage({ message })]
      for await (const { candidates } of answers) {
        for (const part of candidates?.[0]?.content?.parts ?? []) {
          if (part.functionCall) calls.push(part.functionCall)
          else if (!part.thought) text += part.text ?? ''
        }
      }
      if (calls.length === 0) return text
      message = calls.map(({ id, name, args }) => ({
        functionResponse: { id: id!, name: name!, response: { output: told(args!['city'] as string) } },
      }))
    }
  },
}

/** What a backend was given back of two turns: whether thoughts came back signed, as text, or not at all, and how often. */
interface Returned {
  readonly texts: readonly unknown[]
  readonly signed: number
  readonly thoughts: number
}

const count = (of: RegExp, asked: unknown): number => [...JSON.stringify(asked).matchAll(of)].length

/** Texts, calls and results in their order, in the words of each backend. */
const heardBy: Readonly<Record<Behind, (asked: any) => readonly unknown[]>> = {
  chat: ({ messages }) =>
    messages.flatMap(({ content, tool_calls = [] }: any) => [
      ...(content ? [content] : []),
      ...tool_calls.map((call: any) => JSON.parse(call.function.arguments).city),
    ]),
  responses: ({ input }) =>
    input.flatMap(({ content, arguments: json, output }: any) =>
      json !== undefined
        ? [JSON.parse(json).city]
        : (output ?? (typeof content === 'string' ? content : (content?.[0].text ?? []))),
    ),
  messages: ({ messages }) =>
    messages.flatMap(({ content }: any) =>
      (typeof content === 'string' ? [{ text: content }] : content).flatMap(
        ({ text, input, content }: any) => text ?? input?.city ?? content ?? [],
      ),
    ),
  gemini: ({ contents }) =>
    contents.flatMap(({ parts }: any) =>
      parts.flatMap(({ text, thought, functionCall, functionResponse }: any) =>
        thought ? [] : (functionCall?.args.city ?? functionResponse?.response.output ?? text),
      ),
    ),
  converse: ({ messages }) =>
    messages.flatMap(({ content }: any) =>
      content.flatMap(
        ({ text, toolUse, toolResult }: any) => text ?? toolUse?.input.city ?? toolResult?.content[0].text ?? [],
      ),
    ),
}

/** The signatures that the script, or the vendor's own form, gives to the thoughts of two turns. */
const signatures: Readonly<Record<Behind, RegExp>> = {
  chat: /never signed/g,
  responses: /gAAAA-[02]_0/g,
  messages: /c2lnbmVkI[^"]*/g,
  gemini: /Z29vZ2xlI[^"]*/g,
  converse: /c2lnbmVkI[^"]*/g,
}

const returned = (model: Behind, asked: unknown): Returned => ({
  texts: heardBy[model](asked),
  signed: count(signatures[model], asked),
  thoughts: count(/Let me look\.|Once more\./g, asked),
})

const levelOf = ({ signed, thoughts }: Returned): string =>
  signed === 2
    ? 'signed'
    : thoughts === 2
      ? 'as text'
      : signed + thoughts === 0
        ? 'left out'
        : `${signed} and ${thoughts}`

/** Whatever prints JSON anew spells these in another way. */
const oddly = (text: string): string => text.replaceAll('I look.', 'I \\u006cook.')
const asked = (text: string): string => text.replaceAll('"Weather?"', '"Weather\\u003f"')

interface Heard {
  readonly sent: string
  readonly told: string
}

/** Notes the bytes of clients, and spells one text of theirs as JSON.stringify does not. */
const listening = (t: Test): Heard[] => {
  const heard: Heard[] = []
  const { fetch } = globalThis
  t.teardown(() => void (globalThis.fetch = fetch))
  globalThis.fetch = async (url, init) => {
    if (typeof init?.body !== 'string') return fetch(url, init)
    const sent = asked(init.body)
    const answer = await fetch(url, { ...init, body: sent })
    const copy = answer.clone()
    heard.push({ sent, get told() { return told } } as Heard) // prettier-ignore
    let told = ''
    void copy.text().then((text) => (told = text))
    return answer
  }
  return heard
}

/** The member that holds the conversation, as a client prints it. */
const conversation: Readonly<Record<string, string>> = {
  'chat completions': 'messages',
  responses: 'input',
  messages: 'messages',
  gemini: 'contents',
}
const home: Readonly<Record<string, Behind>> = { 'chat completions': 'chat', responses: 'responses', messages: 'messages', gemini: 'gemini' } // prettier-ignore

const memberOf = (sent: string, door: string): string => {
  const member = conversation[door]!
  return `"${member}":${asked(JSON.stringify(JSON.parse(sent)[member]))}`
}

const titles: Readonly<Record<string, string>> = {
  'chat completions': 'chat completions',
  responses: 'Responses',
  messages: 'Messages',
  gemini: 'Gemini',
  converse: 'Converse',
}

/** What came back, by door and backend. */
type Cells = Map<string, Set<string>>

const cellOf = (cells: Cells, door: string, model: Behind): string => {
  const levels = [...cells.get(`${door}/${model}`)!]
  return (home[door] === model ? ['as sent', ...levels] : levels).join('; ')
}

const tableOf = (cells: Cells): string =>
  [
    `| door ↓, backend → | ${behind.map((text) => (text === 'chat' ? titles['chat completions'] : titles[text])).join(' | ')} |`,
    `|---|${'---|'.repeat(behind.length)}`,
    ...Object.keys(clients).map(
      (door) => `| ${titles[door]} | ${behind.map((model) => cellOf(cells, door, model)).join(' | ')} |`,
    ),
  ].join('\n')

t.setTimeout(600_000)

t.test(
  'every stock client works with every backend, tools and reasoning over three turns, clear and sealed',
  async (t) => {
    const cells: Cells = new Map()
    const note = (door: string, model: Behind, what: string) => {
      const key = `${door}/${model}`
      cells.set(key, (cells.get(key) ?? new Set()).add(what))
    }
    const answers: string[] = []
    const play = (request: Asked): Take => {
      const take = scripted(weatherScript)(request)
      if (typeof take.body !== 'string') return take
      const body = oddly(take.body)
      answers.push(body)
      return { ...take, body }
    }
    const names = Object.fromEntries(behind.map((name) => [name, name])) as Record<Behind, Behind>
    const open = await opened(t, play, names)
    const shut = await sealedDoors(t, play, names)
    const { url } = await sealing(t, ['--base-url', shut.base, '--allow-insecure-dev'], { SEALGATE_KEY: shut.key })
    const ways = {
      clear: { reach: open as Reached, backend: open.backend },
      sealed: { reach: { base: url.replace(/\/v1$/, ''), key: 'any' }, backend: shut.backend },
    }
    const heard = listening(t)
    for (const [way, { reach, backend }] of Object.entries(ways)) {
      for (const [door, client] of Object.entries(clients)) {
        for (const model of behind) {
          for (const stream of [false, true]) {
            const name = `${door} before ${model}, ${way}, ${stream ? 'streamed' : 'whole'}`
            const [from, first] = [heard.length, answers.length]
            t.equal(await client(reach, model, stream), 'It is sunny.', name)
            const call = returned(model, JSON.parse(backend.asked.at(-1)!.body.toString()))
            t.same(
              call.texts,
              ['Weather?', 'I look.', 'Lima', 'Rome', 'Lima: sunny', 'Rome: sunny', 'Oslo', 'Oslo: sunny'],
              `${name}: the backend is given back what it gave`,
            )
            // This client keeps the last piece alone of members that the common format has beyond text and calls.
            if (door !== 'chat completions' || !stream) note(door, model, levelOf(call))
            if (way === 'sealed' || home[door] !== model) continue
            const bodies = backend.asked.slice(-3).map(({ body }) => body.toString())
            for (const [turn, { sent, told }] of heard.slice(from).entries()) {
              t.ok(
                bodies[turn]!.includes(memberOf(sent, door)),
                `${name}: turn ${turn} reaches the backend to the byte`,
              )
              t.equal(
                told,
                answers[first + turn]!.replaceAll(model === 'gemini' ? 'gemini-own' : own[model], model),
                `${name}: answer ${turn} comes to the byte`,
              )
            }
          }
        }
      }
    }
    const page = await readFile(new URL('../../../docs/clients.md', import.meta.url), 'utf8')
    const table = tableOf(cells)
    t.ok(page.includes(table), `docs/clients.md has the table\n${table}`)
  },
)

/** Types of blocks and items, as they begin in a stream. */
const orders: Readonly<Record<string, readonly string[]>> = {
  responses: ['function_call', 'reasoning', 'function_call'],
  messages: ['tool_use', 'thinking', 'redacted_thinking', 'tool_use'],
  // One part of this dialect has all of it.
  gemini: [],
}

t.test('a chunk that joins the end of a call, thoughts and the next call keeps both calls whole', async (t) => {
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'own' }
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const begun = (index: number, json: string) => ({ index, id: `call_${index}`, type: 'function', function: { name: 'weather', arguments: json } }) // prettier-ignore
  const body = [
    chunk({ tool_calls: [begun(0, '{"city":')] }),
    chunk({
      reasoning_content: 'Once more.',
      extra_content: { vendor: 'signed' },
      tool_calls: [{ index: 0, function: { arguments: '"Lima"}' } }, begun(1, '{"city":"Rome"}')],
    }),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ].join('')
  const gateway = await opened(t, () => ({ headers: { 'content-type': 'text/event-stream' }, body }), { talk: 'chat' })
  for (const name of ['responses', 'messages', 'gemini']) {
    const door = doors[name]!
    const text = await (await gateway.call('POST', door.path(true), door.first(true))).text()
    t.same(
      door.used(await door.read(text, true)),
      [
        ['weather', { city: 'Lima' }],
        ['weather', { city: 'Rome' }],
      ],
      name,
    )
    const begins = /^data: .*(?:content_block_start|output_item\.added).*"type":"(\w+_\w+|thinking|reasoning)"/gm
    const types = [...text.matchAll(begins)].map(([, type]) => type)
    t.same(types, orders[name], `${name}: thoughts and their signature stand before the call`)
  }
})
