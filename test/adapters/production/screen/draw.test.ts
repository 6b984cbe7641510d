import t from 'tap'
import { type StartFacts, plainLines, firstScreen } from '../../../../adapters/production/screen/draw.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { served } from '../../../every-route.ts'
import { abilities } from '../../../../plugins/shared/optional-package.ts'
import type { Survey } from '../../../../adapters/production/survey.ts'

const start: StartFacts = {
  version: '1.2.3',
  url: 'http://127.0.0.1:8787',
  surfaces: served().names,
  names: { compat: 'compat', std: 'std', v1: 'v1' },
  configuration: null,
  data: '/srv/data',
  lacks: [],
  key: { credential: 'sk_live_abc', link: 'http://127.0.0.1:8787/console#link=abc' },
}

const refused = Object.assign(new Error('Canary7319'), { code: 'ECONNREFUSED' })
const survey: Survey = {
  backends: [
    { name: 'house', models: [{ id: 'qwen', type: 'CHAT' }], fault: null, pretends: false },
    { name: 'openai', models: null, fault: new UpstreamFailed('Canary7319', { answered: 401 }), pretends: false },
    { name: 'ollama', models: null, fault: new UpstreamFailed(undefined, { cause: refused }), pretends: false },
    { name: 'rehearsal', models: [{ id: 'rehearsal', type: 'CHAT' }], fault: null, pretends: true },
  ],
  models: [
    { name: 'qwen', type: 'CHAT' },
    { name: 'rehearsal', type: 'CHAT' },
  ],
  evidence: 'dev',
  enclaveFault: null,
  stores: { metadata: null, blobs: null },
}

const recorded = `
sealgate 1.2.3 serves http://127.0.0.1:8787

  page           http://127.0.0.1:8787/
                 http://127.0.0.1:8787/console   the console
  API            http://127.0.0.1:8787/v1   for clients of OpenAI and Anthropic; http://127.0.0.1:8787/v1beta for Gemini
                 http://127.0.0.1:8787/std   standard chat, audio and images
                 http://127.0.0.1:8787/compat/v1/decision   typed decisions
  docs           http://127.0.0.1:8787/docs   http://127.0.0.1:8787/openapi.json
  backends       ✓ house: 1 model
                 ✗ openai: 401, the key was refused
                 ✗ ollama: nothing listens there (ECONNREFUSED)
                 ✓ rehearsal: 1 model, which only rehearse
  models         qwen, rehearsal
  data           /srv/data
  configuration  none: the environment decides
  enclave        development: it proves nothing. Whoever runs this machine can read what is sealed.
  key            export SEALGATE_KEY=sk_live_abc
                 The key has every scope and is shown only now.
  console        http://127.0.0.1:8787/console#link=abc
                 The link signs in once, within five minutes.
  try            curl http://127.0.0.1:8787/v1/chat/completions -H "Authorization: Bearer $SEALGATE_KEY" \\
                   -H 'Content-Type: application/json' -d '{"model":"qwen","messages":[{"role":"user","content":"Hello"}]}'

`

t.test('the first screen', (t) => {
  t.equal(firstScreen(start, survey, false), recorded)
  const coloured = firstScreen(start, survey, true)
  t.match(coloured, '\u001b[33mdevelopment: it proves nothing.', 'in yellow')
  t.match(coloured, '\u001b[31m✗\u001b[39m openai')
  t.equal(coloured.replace(/\u001b\[\d+m/g, ''), recorded, 'colours change no letter')
  t.end()
})

t.test('each line fits a terminal, where everything is missing that can be', (t) => {
  const lacks = abilities.map((ability) => ability.name)
  for (const text of [firstScreen({ ...start, lacks }, survey, false), plainLines({ ...start, lacks }, survey)]) {
    t.match(text, `sealgate add ${lacks.join(' ')}`)
    for (const line of text.split('\n')) t.ok(line.length <= 160, line)
  }
  t.end()
})

t.test('without a terminal there are lines, and no key', (t) => {
  const lines = plainLines({ ...start, configuration: '/etc/sealgate.json' }, survey)
  t.notMatch(lines, /sk_live|\u001b/)
  t.ok(
    lines
      .split('\n')
      .slice(0, -1)
      .every((line) => line.startsWith('sealgate ')),
  )
  t.match(lines, 'sealgate backend ✗ openai: 401, the key was refused\n')
  t.match(lines, 'sealgate data: /srv/data; configuration: /etc/sealgate.json\n')
  t.match(lines, 'sealgate enclave development: it proves nothing.')
  t.end()
})

t.test('missing facts are not drawn', (t) => {
  const lacks = ['ocr']
  t.match(firstScreen({ ...start, lacks }, survey, false), /lacks {10}ocr\n {17}sealgate add ocr\n/)
  t.match(plainLines({ ...start, lacks }, survey), 'sealgate lacks ocr: sealgate add ocr\n')
  const none = { ...survey, backends: [], models: [], evidence: null, enclaveFault: refused }
  const text = firstScreen({ ...start, surfaces: ['files'], key: { file: "/srv/it's/first-key" } }, none, false)
  t.notMatch(text, /curl|API/)
  t.match(text, /backends {7}none/)
  t.match(text, /enclave {8}✗ nothing listens there/)
  const spoiled = Object.assign(new TypeError('fetch failed'), { code: 'UND_ERR_INVALID_ARG' })
  t.match(
    firstScreen(start, { ...none, enclaveFault: spoiled }, false),
    /enclave {8}✗ its key or address has a character/,
  )
  t.match(text, `export SEALGATE_KEY="$(cat '/srv/it'\\''s/first-key')"`)
  t.end()
})

t.test('names of models are words of backends, and stay within their line', async (t) => {
  const models = [{ name: 'a\u001b[31m\u009b1mred\nrow', type: 'CHAT' as const }]
  const named = { ...survey, models }
  t.match(plainLines(start, named), '\nsealgate models: a?[31m?1mred?row\n')
  t.notMatch(firstScreen(start, named, false), /[\u001b\u0080-\u009f]|red\n/)
})
