import t from 'tap'
import { backends, opened, type Backend } from '../fakes/doors.ts'
import type { Asked } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'

type Json = Record<string, any>

const long = 'Rules that stand in front of everything. '.repeat(50)
const schema = { type: 'object', properties: { a: { type: 'number' }, 10: { type: 'string' }, 2: {} } }

/** Four requests of one conversation, each longer than the one before, as a client of the dialect words them. */
const turns: Readonly<Record<Backend, readonly Json[]>> = {
  chat: [1, 3, 5, 7].map((count) => ({
    messages: [
      { role: 'system', content: long },
      ...[
        { role: 'user', content: 'Grüße 🎨 \u2028 "quoted"' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"b": 1.0}' } }] }, // prettier-ignore
        { role: 'tool', tool_call_id: 'c', content: 'It is 7.' },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content: [{ type: 'text', text: 'And?' }] },
        { role: 'assistant', content: 'No.' },
        { role: 'user', content: 'Why?' },
      ].slice(0, count),
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
  })),
  responses: [1, 3, 5, 7].map((count) => ({
    ...{ store: false, include: ['reasoning.encrypted_content'], instructions: long },
    input: [
      { role: 'user', content: 'Grüße 🎨 \u2028 "quoted"' },
      [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA-1' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"b": 1.0}' },
      ],
      { type: 'function_call_output', call_id: 'c', output: 'It is 7.' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }], phase: 'final_answer' },
      { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
      { role: 'assistant', content: 'No.' },
      { role: 'user', content: 'Why?' },
    ]
      .slice(0, count)
      .flat(),
    tools: [{ type: 'function', name: 'f', parameters: schema, strict: false }],
  })),
  messages: [1, 3, 5, 7].map((count) => ({
    max_tokens: 100,
    tools: [{ name: 'f', input_schema: schema, cache_control: { type: 'ephemeral' } }],
    system: [{ type: 'text', text: long, cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'Grüße 🎨 \u2028 "quoted"' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 'b25l' }, { type: 'tool_use', id: 'c', name: 'f', input: { b: 1.5, 10: 'x', 2: [] } }] }, // prettier-ignore
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'It is 7.' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
      { role: 'user', content: 'And?' },
      { role: 'assistant', content: 'No.' },
      { role: 'user', content: 'Why?' },
    ].slice(0, count),
  })),
  gemini: [1, 3, 5, 7].map((count) => ({
    systemInstruction: { parts: [{ text: long }] },
    tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }],
    contents: [
      { role: 'user', parts: [{ text: 'Grüße 🎨 \u2028 "quoted"' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args: { b: 1.5, 10: 'x' } }, thoughtSignature: 'b25l' }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { it: 7 } } }] },
      { role: 'model', parts: [{ text: 'Yes.' }] },
      { role: 'user', parts: [{ text: 'And?' }] },
      { role: 'model', parts: [{ text: 'No.' }] },
      { role: 'user', parts: [{ text: 'Why?' }] },
    ].slice(0, count),
  })),
}

const paths: Readonly<Record<Backend, (model: string) => string>> = {
  chat: () => '/v1/chat/completions',
  responses: () => '/v1/responses',
  messages: () => '/v1/messages',
  gemini: (model) => `/v1beta/models/${model}:generateContent`,
}

/** What a backend puts in front of its cache, in the order in which it reads it. */
const promptOf = ({ body }: Asked): string => {
  const { tools, system, systemInstruction, instructions, messages, contents, input } = JSON.parse(
    body.toString(),
  ) as Json
  return [tools, system ?? systemInstruction ?? instructions, ...(messages ?? contents ?? input)]
    .map((message) => JSON.stringify(message))
    .join('\n')
}

/** Of each prompt, how many characters from its beginning a backend has read before. */
const cached = (requests: readonly Asked[]): readonly number[] => {
  const prompts = requests.map(promptOf)
  return prompts.map((prompt, at) => Math.max(0, ...prompts.slice(0, at).map((before) => shared(prompt, before))))
}

const shared = (one: string, other: string): number => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

t.test('a backend of the caller’s dialect finds as much in its cache as without the gateway', async (t) => {
  const doors = await opened(
    t,
    scripted(() => [{ say: 'Well.' }]),
  )
  for (const dialect of backends) {
    const path = paths[dialect](dialect)
    const asking = async (base: string, headers: Record<string, string>) => {
      const from = doors.backend.asked.length
      for (const turn of turns[dialect]) {
        const body = JSON.stringify({ ...turn, ...(dialect !== 'gemini' && { model: dialect }) })
        const sent = { 'content-type': 'application/json', ...headers }
        t.equal((await fetch(base + path, { method: 'POST', headers: sent, body })).status, 200)
      }
      return doors.backend.asked.slice(from)
    }
    const direct = await asking(doors.backend.url, {})
    const ours = await asking(doors.base, { authorization: `Bearer ${doors.key}` })
    t.ok(cached(direct)[3]! > long.length, 'the cache is one in which prompts are found')
    t.same(cached(ours), cached(direct), `${dialect}: all of what is found without the gateway`)
    t.same(ours.map(promptOf), direct.map(promptOf), `${dialect}: letter for letter`)
  }
})
