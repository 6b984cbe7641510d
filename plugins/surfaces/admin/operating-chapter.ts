import type { Chapter } from '../../../core/ports/chapter.ts'
import { exampleEnvelope } from '../shared/example-envelope.ts'
import { trafficWords } from './traffic-words.ts'

const key = 'key_01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8'

const pagination = { limit: 20, offset: 0, total: 1, has_more: false }

const state = {
  backend: 'rehearsal',
  state: 'open',
  rest_ms: 7200,
  breakers: [{ model: 'rehearsal', state: 'open', rest_ms: 7200 }],
  calls: [
    { at: 1893456000000, outcome: 'answered', status: null, ms: 412 },
    { at: 1893456001000, outcome: 'failed', status: 503, ms: 38 },
  ],
  faults: [{ kind: 'server_error', count: 1 }],
  p50_ms: 412,
  p95_ms: 730,
  first_token_p50_ms: 180,
  first_token_p95_ms: 260,
  listed_at: 1893455990000,
  used: { requests: 12, input: 3400, output: 820, cached: 0, reasoning: 0, unpriced: 0, cost: 0.42 },
}

const kept = { backend: 'rehearsal', processes: 1 }

const events =
  'The event `listening` comes first, with `of` (`all` or `organization`), `per_second` and `processes`. ' +
  'Each event `requests` has the last state of each request that changed, the number `passed` of requests that ' +
  'the listener was not shown, and the number of `processes` whose requests it shows.'

const drilled =
  'The event `begins` comes first, with the `model`, the number of its `backends`, `retries`, `continues` and the ' +
  '`scenes` that are played. Each event `scene` has the `scene` with its `title`, a `mark` (`pass`, `partial`, `safe` ' +
  'or `fail`), a `note`, what the `caller` saw and how many calls of backends it took (`asked`). The event `ended` ' +
  'has the number of scenes with each mark. A drill that breaks ends with the event `error`.'

const shownSetting = { origin: 'written', content: 'value', value: 2, variable: null, set: null }

/** Sentences for one side of a setting. */
const shownWords = (of: string) => ({
  [`${of}.origin`]:
    'Where the setting comes from: what is `written`, a `default`, or the `variable` that the file names.',
  [`${of}.content`]: 'What is shown: the `value`, that it is `empty`, or only that it is there.',
  [`${of}.value`]: 'The value. It is null where it is not shown, and where it is null itself.',
  [`${of}.variable`]: 'The `NAME` where the file says `$NAME`. It is null otherwise.',
  [`${of}.set`]: 'Whether the variable is set. It is null without one.',
})

const faultsWords =
  'What is wrong with the file, in the sentences of `sealgate check`, with line and column. They have no value of a setting.'

/** The chapter for operators at work: what runs now, and what a backend does. */
export const operating: Chapter = {
  name: 'Live and backends',
  about: 'These routes show what a gateway does now, and have no text of a caller or of a backend.',
  words: {
    key: 'The id of the key.',
    organization: 'The organisation of the caller.',
    user: 'The user of the caller.',
    team: 'The team of the caller. It is null for none.',
    scopes: 'What the key may do.',
    'data.models': 'The models that the key may use. It is null for all.',
    operator: 'Whether the caller’s organisation is one of the operators.',
    currency: 'The currency of costs. It is null where the configuration has prices and names none.',
    'query.organization':
      'Another organisation, or `*` for all. Only callers of an operator’s organisation may name it.',
    seconds: 'The seconds after which the stream ends, from 1 to 300.',
    'body.seconds': 'The seconds of rest, from 1 to 3600. Without it, the rest is that of a breaker.',
    'body.model': 'The chat model whose chain is drilled. It is served in the clear.',
    'body.scenes': 'The scenes that are played. Without it, all of them.',
    'path.backend': 'The name of the backend.',
    backend: 'The name of the backend.',
    processes: 'The number of processes that the answer speaks of.',
    backends: 'The backends of this side of the enclave, in the order of the configuration.',
    state: 'Whether calls pass. After `half_open`, the next call finds out whether the backend is back.',
    rest_ms: 'The ms until a call may pass.',
    breakers: 'The models of the backend whose calls do not all pass.',
    'breakers.model': 'The backend’s own name of the model.',
    calls: 'The last twenty calls, the latest one last.',
    at: 'The time of the end of the call, in Unix milliseconds.',
    outcome: 'How the call ended.',
    'calls.status': 'The status of a failure. It is null without one.',
    'calls.ms': 'The ms until the answer, the first token or the fault.',
    faults: 'The faults of the last twenty calls, by their kind.',
    kind: 'The kind of the fault. `unreached` is no answer in time, or none that could be read.',
    count: 'The number of such faults.',
    p50_ms: 'Half of the last 200 whole answers took no longer, in ms. It is null without any.',
    p95_ms: 'Of the last 200 whole answers, 95 percent took no longer, in ms.',
    first_token_p50_ms: 'Half of the last 200 streams began within so many ms. It is null without any.',
    first_token_p95_ms: 'Of the last 200 streams, 95 percent began within so many ms.',
    listed_at: 'When the kept list of models was read, in Unix milliseconds. It is null without a list.',
    used: 'What was counted of the backend’s answers since each process began.',
    requests: 'Answered requests.',
    input: 'Tokens of requests.',
    output: 'Tokens of answers.',
    cached: 'Tokens that the backend’s cache had, which `input` includes.',
    reasoning: 'Tokens of reasoning, which `output` includes.',
    unpriced: 'Requests whose price is unknown.',
    cost: 'The cost of the priced requests. It is null where no price is known.',
    answered: 'Whether the backend gave its list within five seconds.',
    fault: 'The kind of the fault. It is null where the backend answered.',
    ms: 'The ms until the answer or the fault.',
    'models.model': 'The model as callers name it.',
    type: 'The kind of the model.',
    standard: 'Whether the model is served in the clear.',
    confidential: 'Whether the model is served inside the enclave.',
    chain: 'The backends by their priority. It is empty where only the enclave knows them.',
    'chain.model': 'The backend’s own name of the model.',
    priority: 'The place in the order. Backends with 1 are asked first.',
    weight: 'The share of the backend among those of one priority.',
    context_tokens: 'The tokens that the backend holds. It is null where nobody said.',
  },
  operations: {
    'GET /admin/self': {
      about: 'Every key may ask this.',
      answer: {
        ...exampleEnvelope,
        data: {
          key,
          organization: 'default',
          user: 'ada',
          team: null,
          scopes: ['chats.completion', 'models.read'],
          models: null,
          operator: true,
          currency: 'USD',
        },
      },
    },
    'GET /admin/live': {
      about:
        'A listener is shown at most 50 requests a second, taken as they begin. Health checks, metrics and administration are not shown.',
      query: { seconds: '1' },
      types: { 'text/event-stream': events },
      statuses: [429],
    },
    'GET /admin/traffic': trafficWords,
    'GET /admin/models': {
      about: 'The weights are those of the configuration.',
      query: { limit: '20' },
      words: { 'data.models': 'The models, in the order of the configuration.' },
      answer: {
        ...exampleEnvelope,
        data: {
          models: [
            {
              model: 'rehearsal',
              type: 'CHAT',
              standard: true,
              confidential: false,
              chain: [{ backend: 'rehearsal', model: 'rehearsal', priority: 1, weight: 1, context_tokens: null }],
            },
          ],
          pagination,
        },
      },
    },
    'GET /admin/backends': {
      about:
        'A backend stands as badly as the worst of its breakers. The enclave’s own backends are not seen from here.',
      answer: { ...exampleEnvelope, data: { processes: 1, backends: [state] } },
    },
    'POST /admin/backends/{backend}/ask': {
      about: 'The list is kept, and stands in the audit as `backend.ask`.',
      path: { backend: 'rehearsal' },
      words: { 'data.models': 'The number of models that the backend lists. It is null without an answer.' },
      answer: { ...exampleEnvelope, data: { backend: 'rehearsal', answered: true, models: 1, fault: null, ms: 3 } },
    },
    'POST /admin/backends/{backend}/rest': {
      about: 'Requests go to the other backends of their models. A model without another one answers 503 meanwhile.',
      path: { backend: 'rehearsal' },
      body: { seconds: 60 },
      answer: { ...exampleEnvelope, message: 'The backend rests', data: { ...kept, rest_ms: 60_000 } },
    },
    'POST /admin/backends/{backend}/wake': {
      about: 'Faults that go on open the breaker again.',
      path: { backend: 'rehearsal' },
      answer: { ...exampleEnvelope, message: 'The backend is awake', data: { ...kept, rest_ms: 0 } },
    },
    'POST /admin/drill': {
      about:
        'A gateway of its own has the chain, retries, breakers and limits of time of the running configuration, and ' +
        'scripted backends. One drill plays at a time in a process. It ends when the caller leaves, and stands in ' +
        'the audit as `drill`.',
      body: { model: 'rehearsal', scenes: ['S13'] },
      types: { 'text/event-stream': drilled },
      statuses: [409],
    },
    'GET /admin/configuration': {
      about:
        'Numbers, flags, words of fixed lists, names and plain addresses are shown; every other text is hidden, wherever ' +
        'it stands. A value that comes from a variable is never shown. A gateway whose settings come from code answers 400. ' +
        'The answer is that of the process that gives it, and after a reload all processes give the same one.',
      words: {
        file: 'The name of the file, without its folder. It is null where environment variables are the configuration.',
        read_at: 'When the configuration in effect was read, in Unix milliseconds.',
        settings: 'The settings in effect, 10,000 at most.',
        settings_left_out: 'The number of further settings.',
        path: 'The keys that lead to the setting. Places in lists are numbers from 0.',
        ...shownWords('settings'),
        faults: `${faultsWords} Plugins are not asked.`,
        changes: 'How the file differs from what is in effect, 1,000 at most. It is null where the file has a fault.',
        changes_left_out: 'The number of further differences.',
        change: 'Whether the file adds, removes or changes the setting.',
        before: 'The setting in effect. It is null where the file adds it.',
        ...shownWords('before'),
        after: 'The setting in the file. It is null where the file removes it.',
        ...shownWords('after'),
        restart: 'Whether a running gateway keeps the setting: a reload is refused, and a restart takes it.',
      },
      answer: {
        ...exampleEnvelope,
        data: {
          file: 'sealgate.jsonc',
          read_at: 1893456000000,
          settings: [
            { path: ['routing', 'retries'], ...shownSetting },
            {
              path: ['providers', 'openai', 'apiKey'],
              ...{ origin: 'variable', content: 'hidden', value: null, variable: 'OPENAI_API_KEY', set: true },
            },
          ],
          settings_left_out: 0,
          faults: [],
          changes: [
            {
              path: ['routing', 'retries'],
              change: 'changed',
              before: shownSetting,
              after: { ...shownSetting, value: 3 },
              restart: false,
            },
          ],
          changes_left_out: 0,
        },
      },
      statuses: [400],
    },
    'POST /admin/configuration/check': {
      about:
        'The plugins that the file names are loaded, as by a reload. No backend is asked. One check goes on at a time in ' +
        'a process. It stands in the audit as `configuration.check`.',
      words: { faults: `${faultsWords} It is empty where there is nothing wrong.` },
      answer: {
        ...exampleEnvelope,
        data: { faults: ['sealgate.jsonc:12:5 routing.retry is not a known setting; did you mean retries?'] },
      },
      statuses: [400, 409],
    },
    'POST /admin/configuration/try': {
      about:
        'The parts stand beside those of the file, or in their place. The file stays as it is, and so does what is in effect. ' +
        'The faults are those that `sealgate check --offline` finds. With `call`, one chat of 16 tokens goes to a model, at its price. ' +
        'A private address is asked only where the file has it. The trial stands in the audit as `configuration.check`.',
      words: {
        models: 'By model: the part of the configuration that is tried.',
        providers: 'By name: backends of kinds that an address and a key describe.',
        use: 'The kind of the backend.',
        baseUrl: 'The address of the backend; that of the vendor when absent.',
        apiKey: 'The variable of the secret, as `$NAME`.',
        guards: 'By name: guards with their settings, without variables.',
        redact: 'The settings of the guard.',
        words: 'The settings of the guard.',
        secrets: 'By name: values of variables of new backends. The trial forgets them, and no answer has them.',
        'body.call': 'The model that is called once; no call when absent.',
        'data.call': 'How the call ended. It is null without one, and where the file would have a fault.',
        'call.model': 'The model that was called.',
        status: 'The status that a caller would get.',
        ms: 'The time of the call.',
        fault: 'The sentence that a caller would get. It is null where the call was answered.',
        upstreams: 'The chain of the model.',
        provider: 'The name of a backend of the configuration.',
        'upstreams.model': 'The backend’s own name of the model.',
        weight: 'The share of the backend among those of its priority.',
        priority: 'Backends with a lower number are asked first.',
        context_tokens: 'The longest input that the backend takes.',
        faults: `${faultsWords} It is empty where there is nothing wrong.`,
        changes:
          'What a reload of such a file would change, 1,000 at most. It is null where the file would have a fault.',
        changes_left_out: 'The number of further differences.',
        path: 'The keys that lead to the setting. Places in lists are numbers from 0.',
        change: 'Whether the setting is added, removed or changed.',
        before: 'The setting in effect. It is null where it is added.',
        ...shownWords('before'),
        after: 'The setting that was tried. It is null where it is removed.',
        ...shownWords('after'),
        restart: 'Whether a running gateway keeps the setting: a reload is refused, and a restart takes it.',
      },
      body: { models: { rehearsal: { upstreams: [{ provider: 'rehearsal', weight: 2, priority: 1 }] } } },
      answer: {
        ...exampleEnvelope,
        message: 'No faults',
        data: { faults: [], changes: [], changes_left_out: 0, call: null },
      },
      statuses: [400, 409],
    },
  },
}
