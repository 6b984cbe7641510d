import { collectChunks } from '../../core/inference/collect-chunks.ts'
import { eventsOf } from './doors.ts'

type Json = Record<string, any>

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

/** What is no JSON is the free text of a tool. */
const argsOf = (text: string): unknown => {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    return { input: text }
  }
}

/** How a client of one dialect asks, reads an answer, and gives it back with the results of its tools. */
export interface Door {
  path(stream: boolean): string
  first(stream: boolean): Json
  /** The answer in the form in which the client gives it back. */
  read(text: string, stream: boolean): Promise<Json[]> | Json[]
  /** The ids of calls in an answer, and the text. */
  calls(answer: readonly Json[]): readonly string[]
  text(answer: readonly Json[]): string
  /** The calls by their names, with their arguments. */
  used(answer: readonly Json[]): readonly (readonly [name: string, args: unknown])[]
  next(body: Json, answer: readonly Json[], ids: readonly string[]): Json
}

const chat = (path: string): Door => ({
  path: () => path,
  first: (stream) => ({
    model: 'talk',
    stream,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Weather?' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', parameters } }],
    max_tokens: 9,
  }),
  async read(text, stream) {
    if (!stream) return [JSON.parse(text).choices[0].message]
    const chunks = eventsOf(text.replace('data: [DONE]\n\n', ''))
    const { choices } = await collectChunks((async function* () { yield* chunks })()) // prettier-ignore
    return [choices[0]!.message as Json]
  },
  calls: ([message]) => (message!['tool_calls'] ?? []).map(({ id }: Json) => id),
  text([message]) {
    const content = message!['content'] ?? ''
    return typeof content === 'string' ? content : content.map(({ text }: Json) => text ?? '').join('')
  },
  used: ([message]) =>
    (message!['tool_calls'] ?? []).map((value: Json) => [
      value['function']?.name ?? value['custom'].name,
      argsOf(value['function']?.arguments ?? value['custom'].input),
    ]),
  next: (body, answer, ids) => ({
    ...body,
    messages: [
      ...body['messages'],
      ...answer,
      ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'Mild.' })),
    ],
  }),
})

export const doors: Readonly<Record<string, Door>> = {
  'chat completions': chat('/v1/chat/completions'),
  standard: chat('/std/chat/completions'),
  responses: {
    path: () => '/v1/responses',
    first: (stream) => ({
      model: 'talk',
      stream,
      store: false,
      instructions: 'Be brief.',
      input: [{ role: 'user', content: 'Weather?' }],
      tools: [{ type: 'function', name: 'weather', parameters, strict: false }],
      include: ['reasoning.encrypted_content'],
    }),
    read: (text, stream) => (stream ? eventsOf(text).at(-1).response : JSON.parse(text)).output,
    calls: (answer) => answer.filter(({ type }) => type === 'function_call').map((item) => item['call_id']),
    text: (answer) => answer.flatMap(({ type, content }) => (type === 'message' ? content : [])).map(({ text }) => text ?? '').join(''), // prettier-ignore
    used: (answer) =>
      answer
        .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
        .map((value) => [value['name'], argsOf(value['arguments'] ?? value['input'])]),
    next: (body, answer, ids) => ({
      ...body,
      input: [
        ...body['input'],
        ...answer,
        ...ids.map((call_id) => ({ type: 'function_call_output', call_id, output: 'Mild.' })),
      ],
    }),
  },
  messages: {
    path: () => '/v1/messages',
    first: (stream) => ({
      model: 'talk',
      stream,
      max_tokens: 9,
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'Weather?' }],
      tools: [{ name: 'weather', input_schema: parameters }],
    }),
    read(text, stream) {
      if (!stream) return JSON.parse(text).content
      const blocks: Json[] = []
      for (const { type, index, content_block, delta } of eventsOf(text)) {
        if (type === 'content_block_start') blocks[index] = { ...content_block, json: '' }
        if (type !== 'content_block_delta') continue
        const block = blocks[index]!
        if (delta.type === 'text_delta') block['text'] += delta.text
        if (delta.type === 'thinking_delta') block['thinking'] += delta.thinking
        if (delta.type === 'signature_delta') block['signature'] = delta.signature
        if (delta.type === 'input_json_delta') block['json'] += delta.partial_json
      }
      return blocks.map(({ json, ...block }) => (json === '' ? block : { ...block, input: JSON.parse(json) }))
    },
    calls: (answer) => answer.filter(({ type }) => type === 'tool_use').map((block) => block['id']),
    text: (answer) => answer.map(({ text }) => text ?? '').join(''),
    used: (answer) => answer.filter(({ type }) => type === 'tool_use').map(({ name, input }) => [name, input]),
    next: (body, answer, ids) => ({
      ...body,
      messages: [
        ...body['messages'],
        { role: 'assistant', content: answer },
        { role: 'user', content: ids.map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: 'Mild.' })) },
      ],
    }),
  },
  gemini: {
    path: (stream) => `/v1beta/models/talk:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    first: () => ({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Weather?' }] }],
      tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: parameters }] }],
    }),
    read: (text, stream) =>
      (stream ? eventsOf(text) : [JSON.parse(text)]).flatMap(({ candidates }) => candidates[0].content.parts),
    calls: (answer) => answer.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall.id])),
    text: (answer) => answer.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''),
    used: (answer) =>
      answer.flatMap(({ functionCall }) =>
        functionCall === undefined ? [] : [[functionCall.name, functionCall.args ?? {}]],
      ),
    next: (body, answer, ids) => ({
      ...body,
      contents: [
        ...body['contents'],
        { role: 'model', parts: answer },
        {
          role: 'user',
          parts: ids.map((id) => ({ functionResponse: { id, name: 'weather', response: { output: 'Mild.' } } })),
        },
      ],
    }),
  },
}
