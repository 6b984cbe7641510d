import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, Type, type FunctionCall, type GenerateContentResponse, type Part } from '@google/genai'
import OpenAI from 'openai'
import t from 'tap'
import { backends, opened, type Backend, type Doors } from '../fakes/doors.ts'
import { scripted } from '../fakes/scripted.ts'
import { told, weatherSchema as schema, weatherScript } from '../fakes/weather.ts'

/** A client of one door that goes through all turns; gives back what it was told at last. */
type Client = (it: Doors, model: Backend, stream: boolean) => Promise<string>

const clients: Readonly<Record<string, Client>> = {
  async 'chat completions'(it, model, stream) {
    const client = new OpenAI({ baseURL: `${it.base}/v1`, apiKey: it.key, maxRetries: 0 })
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather?' }]
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { ...schema } } }]
    for (;;) {
      const asked = { model, messages, tools }
      const { choices } = stream
        ? await client.chat.completions.stream(asked).finalChatCompletion()
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

  async responses(it, model, stream) {
    const client = new OpenAI({ baseURL: `${it.base}/v1`, apiKey: it.key, maxRetries: 0 })
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

  async messages(it, model, stream) {
    const client = new Anthropic({ baseURL: it.base, apiKey: it.key, maxRetries: 0 })
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

  async gemini(it, model, stream) {
    const client = new GoogleGenAI({ apiKey: it.key, httpOptions: { baseUrl: it.base } })
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

/** What each backend has to be given back of the first two turns, in the words of its own dialect. */
const remembered: Readonly<Record<Backend, (asked: any) => unknown>> = {
  chat: ({ messages }) =>
    messages.map(({ role, content, reasoning_content, tool_calls }: any) => [
      role,
      content,
      ...(tool_calls ? [reasoning_content, tool_calls.map((it: any) => JSON.parse(it.function.arguments).city)] : []),
    ]),
  responses: ({ input }) =>
    input.map(({ content, encrypted_content, arguments: json, output }: any) =>
      json === undefined
        ? (encrypted_content ?? output ?? (typeof content === 'string' ? content : content[0].text))
        : JSON.parse(json).city,
    ),
  messages: ({ messages }) =>
    messages.map(({ content }: any) =>
      (typeof content === 'string' ? [{ text: content }] : content).map(
        ({ text, signature, input, content }: any) => text ?? signature ?? input?.city ?? content,
      ),
    ),
  gemini: ({ contents }) =>
    contents.flatMap(({ parts }: any) =>
      parts
        .filter(({ thought }: any) => !thought)
        .map(({ text, functionCall, functionResponse, thoughtSignature }: any) =>
          functionCall ? [functionCall.args.city, thoughtSignature] : (text ?? functionResponse.response.output),
        ),
    ),
}

const expected: Readonly<Record<Backend, unknown>> = {
  chat: [
    ['user', 'Weather?'],
    ['assistant', 'I look.', 'Let me look.', ['Lima', 'Rome']],
    ['tool', 'Lima: sunny'],
    ['tool', 'Rome: sunny'],
    ['assistant', null, 'Once more.', ['Oslo']],
    ['tool', 'Oslo: sunny'],
  ],
  responses: [
    ...['Weather?', 'gAAAA-0_0', 'I look.', 'Lima', 'Rome', 'Lima: sunny', 'Rome: sunny'],
    ...['gAAAA-2_0', 'Oslo', 'Oslo: sunny'],
  ],
  messages: [
    ['Weather?'],
    ['c2lnbmVkIG9uZQ==', 'I look.', 'Lima', 'Rome'],
    ['Lima: sunny', 'Rome: sunny'],
    ['c2lnbmVkIHR3bw==', 'Oslo'],
    ['Oslo: sunny'],
  ],
  gemini: [
    'Weather?',
    'I look.',
    ['Lima', 'Z29vZ2xlIG9uZQ=='],
    ['Rome', undefined],
    'Lima: sunny',
    'Rome: sunny',
    ['Oslo', 'Z29vZ2xlIHR3bw=='],
    'Oslo: sunny',
  ],
}

t.test('every stock client works with every backend, tools and reasoning over three turns', async (t) => {
  const it = await opened(t, scripted(weatherScript))
  for (const [door, client] of Object.entries(clients)) {
    for (const model of backends) {
      for (const stream of [false, true]) {
        const name = `${door} before ${model}, ${stream ? 'streamed' : 'whole'}`
        t.equal(await client(it, model, stream), 'It is sunny.', name)
        // Clients of the common format keep text and calls alone.
        if (door === 'chat completions') continue
        t.same(remembered[model](it.asked()), expected[model], `${name}: the backend is given back what it gave`)
      }
    }
  }
})
