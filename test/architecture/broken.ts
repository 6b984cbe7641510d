/** A copy of the house with one fault, and what a rule says of it. */
export interface BrokenHouse {
  readonly rule:
    | 'imports stay within the rooms'
    | 'no circles'
    | 'sizes, names and words'
    | 'rooms keep their bounds'
    | 'core names no feature'
  readonly file: string
  /** Stands at the end of the file; the file may be new. */
  readonly add: string
  readonly fault: RegExp
}

const rooms = 'imports stay within the rooms'
const words = 'sizes, names and words'
const bounds = 'rooms keep their bounds'
const features = 'core names no feature'

export const brokenHouses: readonly BrokenHouse[] = [
  { rule: rooms, file: 'attic/box.ts', add: '', fault: /stands in no room/ },
  {
    rule: rooms,
    file: 'core/http/app.ts',
    add: "\nimport '../../plugins/sealed/enclave/open.ts'",
    fault: /app\.ts may not import plugins\/sealed\/enclave\/open\.ts/,
  },
  {
    rule: rooms,
    file: 'core/access/keyring.ts',
    add: "\nimport '../../plugins/sealed/wire/bytes.ts'",
    fault: /keyring\.ts may not import plugins\/sealed\/wire\/bytes\.ts/,
  },
  {
    rule: rooms,
    file: 'plugins/surfaces/tools/tools.ts',
    add: "\nimport Koa from 'koa'",
    fault: /koa belongs to core\/http\//,
  },
  {
    rule: rooms,
    file: 'plugins/sealed/client/client.ts',
    add: "\nimport { hash } from 'node:crypto'",
    fault: /client\.ts may not import node:crypto/,
  },
  {
    rule: rooms,
    file: 'plugins/sealed/evidence/appraise.ts',
    add: "\nimport { sha256 } from '@noble/hashes/sha2.js'",
    fault: /appraise\.ts may not import @noble/,
  },
  {
    rule: rooms,
    file: 'plugins/providers/openai.ts',
    add: "\nimport './gemini.ts'",
    fault: /a plugin or a part of another one/,
  },
  {
    rule: rooms,
    file: 'plugins/surfaces/v1.ts',
    add: "\nimport './gemini/models.ts'",
    fault: /a plugin or a part of another one/,
  },
  {
    rule: rooms,
    file: 'plugins/surfaces/mcp/routes.ts',
    add: "\nimport '../decision/decision.ts'",
    fault: /a plugin or a part of another one/,
  },
  {
    rule: rooms,
    file: 'plugins/tools/getTime.ts',
    add: "\nimport '../../core/http/app.ts'",
    fault: /getTime\.ts may not import core\/http\/app\.ts/,
  },
  {
    rule: rooms,
    file: 'core/ports/tool.ts',
    add: "\nimport type { App } from '../http/app.ts'",
    fault: /tool\.ts may not import core\/http\/app\.ts/,
  },
  {
    rule: rooms,
    file: 'plugins/sealed/enclave/open.ts',
    add: "\nimport { opener } from '../wire/kem.ts'",
    fault: /open\.ts may not import opener/,
  },
  { rule: rooms, file: 'core/http/app.ts', add: "\nimport './render'", fault: /without its ending/ },
  { rule: rooms, file: 'core/http/app.ts', add: "\nimport '../errors.json'", fault: /without its ending/ },
  {
    rule: 'no circles',
    file: 'core/errors.ts',
    add: "\nimport { createGateway } from './gateway.ts'",
    fault: /core\/errors\.ts > core\/gateway\.ts/,
  },
  {
    rule: bounds,
    file: 'core/errors.ts',
    add: '\n'.repeat(2_000),
    fault: /core has \d+ lines in all, more than 11944/,
  },
  { rule: bounds, file: 'core/errors.ts', add: '\n'.repeat(3_000), fault: /core has \d+ lines, more than its bound/ },
  { rule: bounds, file: 'core/one-more.ts', add: '', fault: /files at its root, more than/ },
  { rule: bounds, file: 'core/attic/box.ts', add: '', fault: /core\/attic has no bound/ },
  { rule: bounds, file: 'plugins/usage/one-more.ts', add: '\n'.repeat(3_000), fault: /plugins\/usage has \d+ lines/ },
  ...[
    ...['drill', 'batch', 'reranker', 'moderation', 'WebSocket', 'web-socket', 'escalation', 'calibration', 'advice'],
    ...[
      'redacted answer',
      'subscription',
      'callerKey',
      'rule of auto',
      'end user',
      'MCP tool',
      'Grafana',
      'gen_ai span',
    ],
  ].map((door): BrokenHouse => ({
    rule: features,
    file: 'core/abort.ts',
    add: `\n/** Ends a ${door}. */`,
    fault: /abort\.ts names a feature/,
  })),
  { rule: words, file: 'core/errors.ts', add: '\n'.repeat(401), fault: /has \d+ lines/ },
  { rule: words, file: 'core/http/route-helper.ts', add: '', fault: /a name that says nothing/ },
  { rule: words, file: 'core/http/routeTable.ts', add: '', fault: /not in kebab case/ },
  { rule: words, file: 'core/errors.ts', add: "\nexport * from './abort.ts'", fault: /is a barrel/ },
  { rule: words, file: 'core/errors.ts', add: '\n// TO' + 'DO: later', fault: /is unfinished/ },
  {
    rule: words,
    file: 'plugins/sealed/files/sweep.ts',
    add: '\nconst now = Date.now()',
    fault: /takes time or chance/,
  },
  {
    rule: words,
    file: 'plugins/sealed/files/sweep.ts',
    add: '\nconst refuse = (name: string) => new BadRequest(`No ${name}`)',
    fault: /builds a public message from data/,
  },
  ...[
    '/** Whoever asks pays. */',
    '// The caller is told of it.',
    '/** Null where somebody\n * took it. */',
    '/** Those who wait come back. */',
    'const it = 1 // A search in vain.',
    '/** Closes the socket. One that is gone stays. */',
    '/** A name as such. */',
  ].map((comment): BrokenHouse => ({
    rule: words,
    file: 'core/errors.ts',
    add: `\n${comment}\nexport {}`,
    fault: /errors\.ts:\d+ says "[^"]+" in a comment/,
  })),
]
