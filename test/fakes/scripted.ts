import { eventFrame } from './event-frames.ts'
import type { Asked, Take } from './recorded.ts'

/** What a scripted model does, one thing after the other. */
export type Act =
  | { readonly think: string; readonly signature?: string }
  | { readonly say: string }
  | { readonly call: string; readonly args: object; readonly signature?: string }

/** The acts of one answer; `tools` are the names on offer, so that a script can serve clients that name theirs differently. */
export type Script = (turn: number, tools: readonly string[]) => readonly Act[]

type Json = Record<string, any>

const json = { 'content-type': 'application/json' }
const sse = { 'content-type': 'text/event-stream; charset=utf-8' }
const usage = { prompt_tokens: 19, completion_tokens: 11, total_tokens: 30 }

/** A text in two pieces, so that a stream has something to join. */
const pieces = (text: string): readonly string[] => {
  const half = Math.ceil(text.length / 2)
  return [text.slice(0, half), text.slice(half)].filter((text) => text !== '')
}

const lines = (events: readonly (readonly [event: string | null, data: unknown])[]): string =>
  events
    .map(
      ([event, data]) =>
        `${event === null ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
    )
    .join('')

/** Answers in the dialect of the path that it is asked by: chat completions, Responses, Messages, Converse or Gemini. A prompt has 21 tokens. Its turn is how many results of tools it has seen. */
export const scripted =
  (script: Script) =>
  ({ path, body }: Asked): Take => {
    if (path.endsWith('/models') || path.includes('/models?')) return { headers: json, body: '{"data":[],"models":[]}' }
    if (path.endsWith('/count_tokens')) return { headers: json, body: '{"input_tokens":21}' }
    if (path.endsWith(':countTokens')) return { headers: json, body: '{"totalTokens":21}' }
    const asked = JSON.parse(body.toString()) as Json
    if (path.endsWith('/chat/completions')) return asChat(asked, script)
    if (path.endsWith('/responses/input_tokens'))
      return { headers: json, body: '{"object":"response.input_tokens","input_tokens":21}' }
    if (path.endsWith('/responses')) return asResponses(asked, script)
    if (path.endsWith('/messages')) return asMessages(asked, script)
    if (path.includes('/converse')) return asConverse(asked, path.endsWith('-stream'), script)
    return asGemini(asked, path.includes(':stream'), script)
  }

const asChat = ({ stream, messages, tools, model }: Json, script: Script): Take => {
  const turn = messages.filter(({ role }: Json) => role === 'tool').length
  const acts = script(
    turn,
    (tools ?? []).map((part: Json) => part['function'].name),
  )
  const head = { id: `chatcmpl-${turn}`, created: 1_700_000_000, model }
  const calls = acts.flatMap((act) => ('call' in act ? [act] : []))
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
  const tool = (act: { call: string; args: object }, index: number) => ({
    id: `call_${turn}_${index}`,
    type: 'function',
    function: { name: act.call, arguments: JSON.stringify(act.args) },
  })
  if (!stream) {
    const text = acts.map((act) => ('say' in act ? act.say : '')).join('')
    const reasoning = acts.map((act) => ('think' in act ? act.think : '')).join('')
    const message = {
      role: 'assistant',
      content: text === '' ? null : text,
      refusal: null,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls.map(tool) }),
    }
    const choices = [{ index: 0, message, logprobs: null, finish_reason }]
    return { headers: json, body: JSON.stringify({ ...head, object: 'chat.completion', choices, usage }) }
  }
  const chunk = (delta: Json, finish: string | null = null) =>
    [null, { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] }] as const
  const events = acts.flatMap((act) => {
    if ('think' in act) return pieces(act.think).map((piece) => chunk({ reasoning_content: piece }))
    if ('say' in act) return pieces(act.say).map((piece) => chunk({ content: piece }))
    const index = calls.indexOf(act)
    const whole = tool(act, index)
    const begun = { ...whole, index, function: { ...whole.function, arguments: '' } }
    const rest = pieces(whole.function.arguments).map((piece) =>
      chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
    )
    return [chunk({ tool_calls: [begun] }), ...rest]
  })
  const last = { ...head, object: 'chat.completion.chunk', choices: [], usage }
  return {
    headers: sse,
    body: lines([chunk({ role: 'assistant' }), ...events, chunk({}, finish_reason), [null, last], [null, '[DONE]']]),
  }
}

/** Thoughts come encrypted, without a summary unless the request asks for one. */
const asResponses = ({ stream, input, tools, model, reasoning, instructions }: Json, script: Script): Take => {
  const turn = (Array.isArray(input) ? input : []).filter(({ type }: Json) => /_call_output$/.test(type ?? '')).length
  const offered = (tools ?? []) as readonly Json[]
  const beside = (Array.isArray(input) ? input : []).flatMap((part: Json) =>
    part['type'] === 'additional_tools' ? part['tools'] : [],
  )
  const names = [...offered, ...beside].flatMap((tool: Json): readonly Json[] =>
    tool['type'] === 'namespace' ? tool['tools'].map((part: Json) => ({ ...part, namespace: tool['name'] })) : [tool],
  )
  const acts = script(
    turn,
    names.map((tool) => tool['name']),
  )
  const output = acts.map((act, at): Json => {
    const id = `${turn}_${at}`
    if ('think' in act) {
      const summary = reasoning?.summary == null ? [] : [{ type: 'summary_text', text: act.think }]
      return { id: `rs_${id}`, type: 'reasoning', summary, encrypted_content: `gAAAA-${id}` }
    }
    if ('say' in act) {
      const content = [{ type: 'output_text', text: act.say, annotations: [], logprobs: [] }]
      const phase = acts.some((act) => 'call' in act) ? 'commentary' : 'final_answer'
      return { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed', content, phase }
    }
    const tool = names.find(({ name }) => name === act.call)
    const place = tool?.['namespace'] === undefined ? {} : { namespace: tool['namespace'] }
    const head = { call_id: `call_${id}`, name: act.call, ...place, status: 'completed' }
    if (tool?.['type'] === 'custom')
      return { id: `ctc_${id}`, type: 'custom_tool_call', ...head, input: Object.values(act.args)[0] }
    return { id: `fc_${id}`, type: 'function_call', ...head, arguments: JSON.stringify(act.args) }
  })
  const usage = {
    input_tokens: 19,
    input_tokens_details: { cached_tokens: 10, cache_write_tokens: 3 },
    output_tokens: 11,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 30,
  }
  const head = {
    ...{
      id: `resp_${turn}`,
      object: 'response',
      created_at: 1_700_000_000,
      model,
      error: null,
      incomplete_details: null,
    },
    ...{
      instructions: instructions ?? null,
      metadata: {},
      parallel_tool_calls: true,
      temperature: 1,
      top_p: 1,
      store: false,
    },
    ...{ tool_choice: 'auto', tools: offered },
  }
  const response = { ...head, status: 'completed', output, usage }
  if (!stream) return { headers: json, body: JSON.stringify(response) }
  let sequence_number = 0
  const event = (type: string, fields: Json) => [type, { type, sequence_number: sequence_number++, ...fields }] as const
  const begun = { ...head, status: 'in_progress', output: [], usage: null }
  const first = [event('response.created', { response: begun }), event('response.in_progress', { response: begun })]
  const events = output.flatMap((item, output_index) => {
    const place = { item_id: item['id'], output_index }
    const grown =
      item['type'] === 'message'
        ? { content: [] }
        : item['type'] === 'reasoning'
          ? { summary: [] }
          : item['type'] === 'function_call'
            ? { arguments: '' }
            : { input: '' }
    const added = event('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', ...grown },
    })
    const inner =
      item['type'] === 'message'
        ? [
            event('response.content_part.added', {
              ...place,
              content_index: 0,
              part: { ...item['content'][0], text: '' },
            }),
            ...pieces(item['content'][0].text).map((delta) =>
              event('response.output_text.delta', { ...place, content_index: 0, delta, logprobs: [] }),
            ),
            event('response.output_text.done', {
              ...place,
              content_index: 0,
              text: item['content'][0].text,
              logprobs: [],
            }),
            event('response.content_part.done', { ...place, content_index: 0, part: item['content'][0] }),
          ]
        : item['type'] === 'reasoning'
          ? item['summary'].flatMap((part: Json) => [
              event('response.reasoning_summary_part.added', {
                ...place,
                summary_index: 0,
                part: { ...part, text: '' },
              }),
              ...pieces(part['text']).map((delta) =>
                event('response.reasoning_summary_text.delta', { ...place, summary_index: 0, delta }),
              ),
              event('response.reasoning_summary_text.done', { ...place, summary_index: 0, text: part['text'] }),
              event('response.reasoning_summary_part.done', { ...place, summary_index: 0, part }),
            ])
          : item['type'] === 'function_call'
            ? [
                ...pieces(item['arguments']).map((delta) =>
                  event('response.function_call_arguments.delta', { ...place, delta }),
                ),
                event('response.function_call_arguments.done', {
                  ...place,
                  name: item['name'],
                  arguments: item['arguments'],
                }),
              ]
            : [
                ...pieces(item['input']).map((delta) =>
                  event('response.custom_tool_call_input.delta', { ...place, delta }),
                ),
                event('response.custom_tool_call_input.done', { ...place, input: item['input'] }),
              ]
    return [added, ...inner, event('response.output_item.done', { output_index, item })]
  })
  return { headers: sse, body: lines([...first, ...events, event('response.completed', { response })]) }
}

const asMessages = ({ stream, messages, tools, model }: Json, script: Script): Take => {
  const turn = messages
    .flatMap(({ content }: Json) => (Array.isArray(content) ? content : []))
    .filter(({ type }: Json) => type === 'tool_result').length
  const acts = script(
    turn,
    (tools ?? []).map((part: Json) => part['name']),
  )
  const stop_reason = acts.some((act) => 'call' in act) ? 'tool_use' : 'end_turn'
  const content = acts.map((act, at) =>
    'think' in act
      ? { type: 'thinking', thinking: act.think, signature: act.signature ?? 'c2lnbmVk' }
      : 'say' in act
        ? { type: 'text', text: act.say }
        : { type: 'tool_use', id: `toolu_${turn}_${at}`, name: act.call, input: act.args },
  )
  const head = { id: `msg_${turn}`, type: 'message', role: 'assistant', model }
  const usage = { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 10, output_tokens: 11 }
  if (!stream) {
    return { headers: json, body: JSON.stringify({ ...head, content, stop_reason, stop_sequence: null, usage }) }
  }
  const delta = (index: number, delta: Json) =>
    ['content_block_delta', { type: 'content_block_delta', index, delta }] as const
  const events = content.flatMap((block, index) => {
    const [empty, deltas] =
      block.type === 'thinking'
        ? [
            { type: 'thinking', thinking: '', signature: '' },
            [
              ...pieces(block.thinking!).map((thinking) => ({ type: 'thinking_delta', thinking })),
              { type: 'signature_delta', signature: block.signature },
            ],
          ]
        : block.type === 'text'
          ? [{ type: 'text', text: '' }, pieces(block.text!).map((text) => ({ type: 'text_delta', text }))]
          : [
              { ...block, input: {} },
              pieces(JSON.stringify(block.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
            ]
    return [
      ['content_block_start', { type: 'content_block_start', index, content_block: empty }] as const,
      ...deltas.map((part) => delta(index, part)),
      ['content_block_stop', { type: 'content_block_stop', index }] as const,
    ]
  })
  const begun = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } }
  return {
    headers: sse,
    body: lines([
      ['message_start', { type: 'message_start', message: begun }],
      ...events,
      ['message_delta', { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }],
      ['message_stop', { type: 'message_stop' }],
    ]),
  }
}

const asGemini = ({ contents, tools }: Json, stream: boolean, script: Script): Take => {
  const parts = contents.flatMap((part: Json) => part['parts'])
  const turn = parts.filter((part: Json) => part['functionResponse'] !== undefined).length
  const names = (tools ?? [])
    .flatMap((part: Json) => part['functionDeclarations'] ?? [])
    .map((part: Json) => part['name'])
  const spoken = script(turn, names).map((act, at) =>
    'think' in act
      ? { text: act.think, thought: true }
      : 'say' in act
        ? { text: act.say }
        : {
            functionCall: { id: `fc_${turn}_${at}`, name: act.call, args: act.args },
            ...(act.signature !== undefined && { thoughtSignature: act.signature }),
          },
  )
  const usageMetadata = { promptTokenCount: 19, candidatesTokenCount: 11, totalTokenCount: 30 }
  const head = { modelVersion: 'gemini-own', responseId: `r${turn}` }
  const whole = (parts: readonly Json[], more: Json = {}) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    ...head,
  })
  const end = { finishReason: 'STOP' }
  if (!stream) return { headers: json, body: JSON.stringify({ ...whole(spoken, end), usageMetadata }) }
  // The reason comes with the last part: their own client takes a piece without parts for an answer that went wrong.
  const piece = (part: Json, at: number) =>
    at < spoken.length - 1 ? whole([part]) : { ...whole([part], end), usageMetadata }
  return { headers: sse, body: lines(spoken.map((part, at) => [null, piece(part, at)] as const)) }
}

const asConverse = ({ messages, toolConfig }: Json, stream: boolean, script: Script): Take => {
  const turn = messages.flatMap(({ content }: Json) => content).filter((part: Json) => part['toolResult']).length
  const acts = script(
    turn,
    (toolConfig?.tools ?? []).map((part: Json) => part['toolSpec'].name),
  )
  const stopReason = acts.some((act) => 'call' in act) ? 'tool_use' : 'end_turn'
  const usage = { inputTokens: 9, outputTokens: 11, totalTokens: 30, cacheReadInputTokens: 10 }
  const blocks = acts.map((act, at): Json =>
    'think' in act
      ? { reasoningContent: { reasoningText: { text: act.think, signature: act.signature ?? 'c2lnbmVk' } } }
      : 'say' in act
        ? { text: act.say }
        : { toolUse: { toolUseId: `tooluse_${turn}_${at}`, name: act.call, input: act.args } },
  )
  if (!stream) {
    const output = { message: { role: 'assistant', content: blocks } }
    return { headers: json, body: JSON.stringify({ output, stopReason, usage, metrics: { latencyMs: 1 } }) }
  }
  const events = blocks.flatMap((block, contentBlockIndex): (readonly [string, Json])[] => {
    const { reasoningText } = block['reasoningContent'] ?? {}
    const deltas: Json[] = reasoningText
      ? [...pieces(reasoningText.text).map((text) => ({ text })), { signature: reasoningText.signature }].map(
          (reasoningContent) => ({ reasoningContent }),
        )
      : block['text'] !== undefined
        ? pieces(block['text']).map((text) => ({ text }))
        : pieces(JSON.stringify(block['toolUse'].input)).map((input) => ({ toolUse: { input } }))
    const { input: _, ...toolUse } = block['toolUse'] ?? {}
    const start = ['contentBlockStart', { contentBlockIndex, start: { toolUse } }] as const
    return [
      ...(block['toolUse'] ? [start] : []),
      ...deltas.map((delta) => ['contentBlockDelta', { contentBlockIndex, delta }] as const),
      ['contentBlockStop', { contentBlockIndex }],
    ]
  })
  const all = [['messageStart', { role: 'assistant' }], ...events, ['messageStop', { stopReason }], ['metadata', { usage }]] as const // prettier-ignore
  return {
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    body: Buffer.concat(all.map(([type, payload]) => eventFrame(type, JSON.stringify(payload)))),
  }
}
