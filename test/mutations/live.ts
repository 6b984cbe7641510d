import type { Changes } from './mutation.ts'

const test = 'test/live.test.ts'
const ofBackends = 'test/backends.test.ts'
const parts = 'test/plugins/surfaces/console/browser.test.ts'

/** Requests as they run, and backends under an operator's hand. */
export const lives: readonly Changes[] = [
  {
    file: 'core/live/stage.ts',
    test,
    changes: [
      {
        breaks: 'Nothing is followed when nobody listens any more.',
        from: 'if (channels.isEmpty()) return stop?.()',
        to: '',
      },
      {
        breaks: 'Listeners of a process are bounded.',
        from: 'channels.listeners() >= mostListeners || ',
        to: '',
      },
      {
        breaks: 'Listeners of one organisation are bounded.',
        from: ' || channels.listeners(part) >= mostOfPart',
        to: '',
      },
      {
        breaks: 'Processes share the requests that a listener is shown.',
        from: 'Math.floor(mostPerSecond / (others + 1))',
        to: 'mostPerSecond',
      },
      {
        breaks: 'A listener that left leaves nothing in other processes.',
        from: 'if (channels.wanted().length === 0) void renewWants()',
        to: '',
      },
    ],
  },
  {
    file: 'core/live/sample.ts',
    test,
    changes: [
      { breaks: 'A second shows fifty requests.', from: 'if (taken < perSecond()) {', to: 'if (taken >= 0) {' },
      {
        breaks: 'A sample tells how many it left out.',
        from: '      passed++\n      return false',
        to: '      return false',
      },
    ],
  },
  {
    file: 'core/live/channels.ts',
    test,
    changes: [
      {
        breaks: 'A listener hears its own organisation alone.',
        from: 'all.get(batch.part)?.boxes ?? []',
        to: '[...all.values()].flatMap((it) => [...it.boxes])',
      },
    ],
  },
  {
    file: 'core/live/mailbox.ts',
    test,
    changes: [
      {
        breaks: 'What waits for a slow listener is bounded.',
        from: 'waiting.size < mostWaiting || waiting.has(it.id)',
        to: 'true',
      },
    ],
  },
  {
    file: 'core/routes/live.ts',
    test,
    changes: [
      {
        breaks: 'A revoked key hears no more.',
        from: 'if (!(await may())) return',
        to: 'await may()',
      },
      {
        breaks: 'A stream ends in its time, and with its gateway.',
        from: 'if (lifecycle.draining.aborted || now >= until) return',
        to: '',
      },
      {
        breaks: 'Only operators hear other organisations.',
        from: 'organizationFor(caller, query.organization, settings)',
        to: `query.organization === '*' ? null : (query.organization ?? caller.organization)`,
      },
    ],
  },
  {
    file: 'core/http/context.ts',
    test,
    changes: [
      {
        breaks: 'Administration is not shown to listeners.',
        from: `!path.startsWith('/admin/') && `,
        to: '',
      },
    ],
  },
  {
    file: 'core/http/app.ts',
    test,
    changes: [
      {
        breaks: 'A request whose key was refused is of no organisation.',
        from: 'organization: null, key }',
        to: `organization: 'default', key }`,
      },
    ],
  },
  {
    file: 'core/inference/routing/failover.ts',
    test,
    changes: [
      { breaks: 'An attempt ends in its trace.', from: '        endAttempt?.(outcome, status)\n', to: '' },
      { breaks: 'A later attempt is no first one.', from: `cause: before > 0 ? 'next' :`, to: 'cause:' },
    ],
  },
  {
    file: 'core/inference/metering/reservations.ts',
    test,
    changes: [
      {
        breaks: 'A trace has the tokens of its request.',
        from: '      trace?.used({ ...told, backend })\n',
        to: '',
      },
      { breaks: 'A trace has the time of the first token.', from: '      trace?.began()\n', to: '' },
    ],
  },
  {
    file: 'core/inference/routing/breaker.ts',
    test: ofBackends,
    changes: [
      {
        breaks: 'A probe that comes back ends no operator’s rest.',
        from: 'if (!held) close()',
        to: 'close()',
      },
      {
        breaks: 'A probe that fails shortens no operator’s rest.',
        from: 'if (!held) open(now, rest)',
        to: 'open(now, rest)',
      },
      {
        breaks: 'An operator’s rest may be longer than that of a breaker.',
        from: '    meant = ms\n',
        to: '',
      },
    ],
  },
  {
    file: 'core/inference/backends/records.ts',
    test: ofBackends,
    changes: [
      {
        breaks: 'First tokens and whole answers have times of their own.',
        from: 'streams ? it.firsts : it.times',
        to: 'it.times',
      },
      {
        breaks: 'A use without a price costs nothing.',
        from: 'cost: used.cost + (cost ?? 0)',
        to: 'cost: used.cost + (cost ?? 1)',
      },
    ],
  },
  {
    file: 'core/inference/backends/merged.ts',
    test: ofBackends,
    changes: [
      {
        breaks: 'Of several processes’ breakers the longest rest is shown.',
        from: 'known.rest < it.rest',
        to: 'known.rest > it.rest',
      },
      { breaks: 'The last twenty calls are the last ones.', from: '.slice(-callsKept)', to: '.slice(0, callsKept)' },
    ],
  },
  {
    file: 'core/inference/backends/backends.ts',
    test: ofBackends,
    changes: [
      { breaks: 'A list that was asked for is kept.', from: 'await keepModels(cache, clock, name, models)', to: '' },
      { breaks: 'An order is for backends that there are.', from: '        found(order.backend)\n', to: '' },
    ],
  },
  {
    file: 'core/routes/backends.ts',
    test: ofBackends,
    changes: [
      {
        breaks: 'Only operators see backends.',
        from: `scope: 'api_key.read', operators: true`,
        to: `scope: 'api_key.read'`,
      },
      {
        breaks: 'A key that only reads asks no backend.',
        from: `summary: 'Asks a backend for its list of models now.',\n  access: { scope: 'api_key.update', operators: true }`,
        to: `summary: 'Asks a backend for its list of models now.',\n  access: { scope: 'api_key.read', operators: true }`,
      },
      {
        breaks: 'A rest stands in the audit.',
        from: `await audit.record(actorOf(id, caller), 'backend.rest', backend, act)`,
        to: 'await act()',
      },
    ],
  },
  {
    file: 'core/routes/chains.ts',
    test: ofBackends,
    changes: [
      {
        breaks: 'Only operators see chains.',
        from: `scope: 'api_key.read', operators: true`,
        to: `scope: 'api_key.read'`,
      },
    ],
  },
  {
    file: 'adapters/production/workers/worker.ts',
    test: 'test/live-workers.test.ts',
    changes: [
      {
        breaks: 'A worker answers what another one asks.',
        from: 'answers.get(question)?.(value) ?? null',
        to: 'null',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/event-stream.ts',
    test: parts,
    changes: [{ breaks: 'An event that is cut is put together.', from: '(rest + value).split', to: 'value.split' }],
  },
  {
    file: 'plugins/surfaces/console/browser/live-feed.ts',
    test: parts,
    changes: [
      {
        breaks: 'A request whose end was not seen does not run.',
        from: `          state = 'Not listening'\n          loseEnds(seen)`,
        to: `          state = 'Not listening'`,
      },
    ],
  },
]
