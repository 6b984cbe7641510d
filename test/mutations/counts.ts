import type { Changes } from './mutation.ts'

const doors = 'test/dialects/count-tokens.test.ts'
const routing = 'test/core/inference/inference.test.ts'
const of = (provider: string): string => `test/plugins/providers/${provider}.test.ts`

export const counts: readonly Changes[] = [
  {
    file: 'core/inference/routing/counters.ts',
    test: doors,
    changes: [
      {
        breaks: 'A backend counts only where no other backend would answer.',
        from: 'return end < 0 ? order : order.slice(0, end)',
        to: 'return order.filter((it) => it.upstream.countTokens !== undefined)',
      },
    ],
  },
  {
    file: 'core/inference/routing/counters.ts',
    test: routing,
    changes: [{ breaks: 'A backend that rests is asked for no count.', from: ' || isOpen(it)', to: '' }],
  },
  {
    file: 'core/inference/calls.ts',
    test: routing,
    changes: [
      { breaks: 'A count asks no backend twice.', from: '      retries: 0,\n', to: '' },
      { breaks: 'A failing count closes no way of chats.', from: '      breakerOf: countBreakers.of,\n', to: '' },
      { breaks: 'A count is not observed as an answer.', from: '      saw: () => undefined,\n', to: '' },
      { breaks: 'A silent counter leaves time to the next one.', from: 'total / able.length', to: 'total' },
      {
        breaks: 'All counts of a request end after five seconds.',
        from: 'Math.min(timeouts.total, longestCount)',
        to: 'timeouts.total',
      },
    ],
  },
  {
    file: 'core/inference/count-chat.ts',
    test: doors,
    changes: [
      {
        breaks: 'A prompt that is too long has an estimate.',
        from: " && error.code !== 'context_length_exceeded'",
        to: '',
      },
      { breaks: 'A request that the backend refuses is told as wrong.', from: ' || isCallers', to: '' },
      {
        breaks: 'Guards see a prompt before it is counted.',
        from: 'passage === null ? worded : await guardedWordings(entry, worded, passage, signal)',
        to: 'worded',
      },
      {
        breaks: 'The operator is told of a failing count.',
        from: "log.warn('count.estimated', { request: id, status: error.status })",
        to: 'void log',
      },
      { breaks: 'An estimate is marked.', from: "{ 'x-sealgate-estimated': 'true' }", to: '{}' },
      { breaks: 'A count tells what its backend has no place for.', from: '...droppedIn(entry, fit), ', to: '' },
    ],
  },
  {
    file: 'plugins/surfaces/v1/messages.ts',
    test: doors,
    changes: [
      {
        breaks: 'A prompt is handed on as it was worded, to be counted.',
        from: "read: 'relayed', schema: CountRequest",
        to: "read: 'json', schema: CountRequest",
      },
    ],
  },
  {
    file: 'plugins/surfaces/gemini/answer-contents.ts',
    test: doors,
    changes: [
      {
        breaks: 'Gemini’s count keeps its modalities.',
        from: 'text(printKept(it.native.body)',
        to: 'json({ totalTokens: it.tokens }',
      },
    ],
  },
  {
    file: 'plugins/providers/shared/tokens-in.ts',
    test: of('anthropic'),
    changes: [{ breaks: 'What is no count is a failure.', from: '!Number.isSafeInteger(tokens) || ', to: '' }],
  },
  {
    file: 'plugins/providers/shared/messages/count-messages.ts',
    test: of('anthropic'),
    changes: [
      {
        breaks: 'The route for counts gets no member that it refuses.',
        from: 'counted.has(name)',
        to: 'true',
      },
    ],
  },
  {
    file: 'plugins/providers/shared/generate-content/count-content.ts',
    test: of('gemini'),
    changes: [
      {
        breaks: 'Instructions and tools are counted with the contents.',
        from: "Object.keys(body).join() === 'contents' ? body",
        to: "'contents' in body ? body",
      },
    ],
  },
  {
    file: 'plugins/providers/vertex.ts',
    test: of('vertex'),
    changes: [
      {
        breaks: 'Open models of Vertex are not counted.',
        from: 'isOpen(call.model) ? null : gemini.countTokens',
        to: 'gemini.countTokens',
      },
    ],
  },
  {
    file: 'plugins/providers/bedrock.ts',
    test: of('bedrock'),
    changes: [
      {
        breaks: 'A model that Bedrock does not count for has an estimate.',
        from: 'if (fault instanceof BadRequest) return null',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/providers/vllm.ts',
    test: of('vllm'),
    changes: [{ breaks: 'Images are not counted as text.', from: 'if (!messages.every(isText)) return null', to: '' }],
  },
]
