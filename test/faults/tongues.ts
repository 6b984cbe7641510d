import { type Tongue, chat } from '../../adapters/drill/tongue.ts'

const openai: Tongue = { ...chat, name: 'chat completions under /v1', under: '/v1' }

const ended = ({ status, incomplete_details }: any): string | null =>
  status === 'completed' ? 'stop' : (incomplete_details?.reason ?? null)

export const responses: Tongue = {
  name: 'Responses',
  under: '/v1',
  path: () => '/responses',
  body: (model, input, stream) => ({ model, stream, input, store: false }),
  event({ type, delta, response }, sight) {
    if (response !== undefined) sight.models.add(response.model)
    if (type === 'response.output_text.delta') sight.text += delta
    if (type === 'response.failed') sight.error = JSON.stringify(response.error)
    if (type === 'response.completed' || type === 'response.incomplete') {
      sight.finish = ended(response)
      sight.done = true
    }
  },
  whole(value: any, sight) {
    sight.models.add(value.model)
    sight.text = value.output.at(-1).content[0].text
    sight.finish = ended(value)
  },
  breaks: ({ type, response }) => type === 'response.failed' && typeof response.error.code === 'string',
}

const reasons: Readonly<Record<string, string>> = { end_turn: 'stop', refusal: 'content_filter' }

export const messages: Tongue = {
  name: 'Messages',
  under: '/v1',
  path: () => '/messages',
  body: (model, content, stream) => ({ model, stream, max_tokens: 100, messages: [{ role: 'user', content }] }),
  event({ type, message, delta }, sight) {
    if (type === 'message_start') sight.models.add(message.model)
    if (type === 'content_block_delta') sight.text += delta.text ?? ''
    if (type === 'message_delta') sight.finish = reasons[delta.stop_reason] ?? delta.stop_reason
    if (type === 'message_stop') sight.done = true
  },
  whole({ model, content, stop_reason }, sight) {
    sight.models.add(model)
    sight.text = content[0].text
    sight.finish = reasons[stop_reason] ?? stop_reason
  },
  breaks: ({ type, error }) => type === 'error' && typeof error.type === 'string',
}

const finishes: Readonly<Record<string, string>> = { STOP: 'stop', SAFETY: 'content_filter' }

export const gemini: Tongue = {
  name: 'Gemini',
  under: '/v1beta',
  path: (model, stream) => `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: (_, text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  event({ modelVersion, candidates }, sight) {
    sight.models.add(modelVersion)
    for (const { content, finishReason } of candidates) {
      for (const { text = '' } of content.parts) sight.text += text
      if (finishReason === undefined) continue
      sight.finish = finishes[finishReason] ?? finishReason
      sight.done = true
    }
  },
  whole: (value, sight) => gemini.event(value, sight),
  breaks: ({ error }) => typeof error?.code === 'number' && typeof error.status === 'string',
}

export const tongues: readonly Tongue[] = [chat, openai, responses, messages, gemini]

/** Those that `sealgate seal` speaks. */
export const sealedTongues: readonly Tongue[] = [openai, responses, messages, gemini]
