import { type Wording, answer } from '../../adapters/drill/written-answer.ts'

interface Item {
  readonly role?: string
  readonly content: string | readonly { readonly text: string }[]
}

const response = (model: string, status: string, text: string, more: object = {}) => ({
  ...{ id: 'resp_fault', object: 'response', created_at: 1_700_000_000, model, status, ...more },
  output: text === '' ? [] : [message(text)],
})

const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })

const message = (text: string) => ({
  ...{ id: 'msg_fault', type: 'message', role: 'assistant', status: 'completed' },
  content: [part(text)],
})

const usage = { input_tokens: 7, output_tokens: 90, total_tokens: 97 }

const place = { item_id: 'msg_fault', output_index: 0, content_index: 0 } as const

const event = (type: string, more: object) => JSON.stringify({ type, sequence_number: 0, ...more })

/** The interface continues no prefix, so no request has one. */
export const responsesWording: Wording = {
  path: '/responses',
  asking({ input }: { readonly input: string | readonly Item[] }) {
    const content = typeof input === 'string' ? input : (input.findLast(({ role }) => role === 'user')?.content ?? '')
    const conversation = typeof content === 'string' ? content : (content[0]?.text ?? '')
    return { conversation, prefix: '', includeUsage: true }
  },
  begin: (model) => [
    event('response.created', { response: response(model, 'in_progress', '') }),
    event('response.output_item.added', { output_index: 0, item: { ...message(''), content: [] } }),
    event('response.content_part.added', { ...place, part: part('') }),
  ],
  word: (_, delta, more) => event('response.output_text.delta', { ...place, delta, logprobs: [], ...more }),
  end(model, text, finish) {
    const isWhole = finish === 'stop'
    const incomplete_details = isWhole ? null : { reason: finish }
    const ended = response(model, isWhole ? 'completed' : 'incomplete', text, { usage, incomplete_details })
    return [
      event('response.output_text.done', { ...place, text }),
      event('response.content_part.done', { ...place, part: part(text) }),
      event('response.output_item.done', { output_index: 0, item: message(text) }),
      event(isWhole ? 'response.completed' : 'response.incomplete', { response: ended }),
    ]
  },
  whole: (model) => JSON.stringify(response(model, 'completed', answer, { usage })),
  failed: event('error', { code: 'server_error', message: 'secret words of the backend', param: null }),
}
