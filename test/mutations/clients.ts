import type { Changes } from './mutation.ts'

export const clients: readonly Changes[] = [
  {
    file: 'adapters/production/commands/seal/proxy-call.ts',
    test: 'test/seal-admission.test.ts',
    changes: [
      {
        breaks: 'A target that is no address ends no proxy.',
        from: "URL.canParse(url, here) ? new URL(url, here) : new URL('/no-address', here)",
        to: 'new URL(url, here)',
      },
    ],
  },
  {
    file: 'adapters/production/commands/files.ts',
    test: 'test/adapters/production/commands/files.test.ts',
    changes: [
      {
        breaks: 'A refused file is named.',
        from: 'new Error(`${name}: ${errorText(error)}`',
        to: 'new Error(errorText(error)',
      },
    ],
  },
  {
    file: 'core/inference/routing/failover.ts',
    test: 'test/stock-errors.test.ts',
    changes: [
      {
        breaks: 'Stock clients are told of full backends, and when these take requests again.',
        from: 'return isFull ? full(course) : last',
        to: 'return last',
      },
    ],
  },
  {
    file: 'core/inference/models/find-model.ts',
    test: 'test/stock-errors.test.ts',
    changes: [
      {
        breaks: 'Stock clients are told that the model list is not known yet.',
        from: 'catalog.isWhole() ||',
        to: 'catalog.isWhole() || model !== null ||',
      },
    ],
  },
  {
    file: 'core/inference/routing/context-window.ts',
    test: 'test/dialects/context-window.test.ts',
    changes: [
      {
        breaks: 'Backends that cannot hold a prompt are passed over.',
        from: 'if (large.length > 0) return large',
        to: 'if (large.length > 0) return order',
      },
      {
        breaks: 'A guess refuses nobody: where no backend holds the prompt, the largest is asked.',
        from: 'order.filter((it) => sizeOf(it) === most)',
        to: 'order',
      },
      {
        breaks: 'A backend whose size nobody told is not passed over.',
        from: 'context === null || context >= tokens',
        to: 'context !== null && context >= tokens',
      },
      { breaks: 'An overflow turns to a larger backend.', from: 'tooFew = context\n', to: 'return false\n' },
      { breaks: 'An overflow turns once.', from: 'tooFew > 0 || context === null', to: 'context === null' },
      {
        breaks: 'Only a backend that is known to be larger is turned to.',
        from: 'context ?? 0',
        to: 'context ?? Infinity',
      },
    ],
  },
  {
    file: 'core/inference/routing/failover.ts',
    test: 'test/dialects/context-window.test.ts',
    changes: [
      {
        breaks: 'Where no larger backend answers, the caller is told of the overflow.',
        from: 'tooLong ?? new Unavailable',
        to: 'new Unavailable',
      },
      {
        breaks: 'After an overflow, backends that are no larger are not asked.',
        from: ' || overflow.passesOver(candidate)',
        to: '',
      },
    ],
  },
  {
    file: 'core/inference/prompt-caches.ts',
    test: 'test/dialects/prompt-caches.test.ts',
    changes: [
      {
        breaks: 'The part of a prompt cache is an organisation’s own.',
        from: "['prompt cache', organization, value]",
        to: "['prompt cache', value]",
      },
      {
        breaks: 'Callers of one organisation name parts of their own.',
        from: ', organization, value]',
        to: ', organization]',
      },
      { breaks: 'The salt of vLLM is an organisation’s own too.', from: ", 'cache_salt'", to: '' },
    ],
  },
  {
    file: 'core/inference/calls.ts',
    test: 'test/dialects/prompt-caches.test.ts',
    changes: [
      {
        breaks: 'An operator may let all share the prompt caches.',
        from: "routing.promptCaches === 'shared' ? asked : withOwnCaches(asked)",
        to: 'withOwnCaches(asked)',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/chat.ts',
    test: 'test/dialects/prompt-caches.test.ts',
    changes: [
      {
        breaks: 'Inside the enclave callers of one organisation share their part of the prompt cache.',
        from: 'provider, organization, affinity: null',
        to: 'provider, affinity: null',
      },
    ],
  },
  {
    file: 'core/dialects/messages/native.ts',
    test: 'test/dialects/cached-share.test.ts',
    changes: [
      {
        breaks: 'A backend of the same dialect is given the marks of its cache.',
        from: "  'system',\n",
        to: '',
      },
    ],
  },
  {
    file: 'core/dialects/messages/native.ts',
    test: 'test/dialects/claude-code.test.ts',
    changes: [
      {
        breaks: 'Claude Code’s edits of the context reach the backend.',
        from: "  'context_management',\n",
        to: '',
      },
      {
        breaks: 'Betas and version reach the backend.',
        from: "['anthropic-beta', 'anthropic-version'].flatMap",
        to: "['anthropic-beta'].flatMap",
      },
    ],
  },
  {
    file: 'core/dialects/messages/betas.ts',
    test: 'test/dialects/messages.test.ts',
    changes: [
      { breaks: 'A refused beta is found in any case.', from: '.trim().toLowerCase()', to: '.trim()' },
      { breaks: 'A refused beta is found behind others.', from: 'name.trim()', to: 'name' },
      { breaks: 'A star stands for any rest.', from: 'name.startsWith(refused.slice(0, -1))', to: 'name === refused' },
      {
        breaks: 'Without a star a name is refused to the letter.',
        from: ': name === refused',
        to: ': name.startsWith(refused)',
      },
      { breaks: 'The refused beta is named.', from: ',\n    told: found.slice(0, mostNameCharacters)', to: '' },
    ],
  },
  {
    file: 'core/inference/answer-chat.ts',
    test: 'test/dialects/attempts.test.ts',
    changes: [
      {
        breaks: 'A whole answer names who was asked.',
        from: '{ ...headers, ...attemptsOf(it), ...marksOf(passage) }',
        to: 'headers',
      },
      { breaks: 'A first backend that answers is not named.', from: 'asked.length < 2', to: 'asked.length < 1' },
    ],
  },
  {
    file: 'core/http/render.ts',
    test: 'test/dialects/attempts.test.ts',
    changes: [{ breaks: 'A stream names who was asked.', from: ', reply.late?.()', to: '' }],
  },
  {
    file: 'core/http/upgrade.ts',
    test: 'test/web-socket.test.ts',
    changes: [
      { breaks: 'A WebSocket is refused by 426.', from: '.filter(({ webSocket }) => webSocket)', to: '.slice(0, 0)' },
      { breaks: 'The path is found under its configured name.', from: 'namedPath(it.path, settings)', to: 'it.path' },
      {
        breaks: 'A plain GET is no WebSocket.',
        from: "method === 'GET' && /\\bwebsocket\\b/i.test(headers.upgrade ?? '')",
        to: "method === 'GET' && headers !== null",
      },
      { breaks: 'The connection of a refused WebSocket ends.', from: "'upgrade, close'", to: "'upgrade'" },
    ],
  },
  {
    file: 'adapters/production/commands/seal/routes.ts',
    test: 'test/web-socket.test.ts',
    changes: [
      {
        breaks: 'The proxy refuses a WebSocket by 426.',
        from: 'door === undefined && fitting.length > 0 && asksWebSocket(request)',
        to: 'door === undefined && asksWebSocket === null',
      },
    ],
  },
]
