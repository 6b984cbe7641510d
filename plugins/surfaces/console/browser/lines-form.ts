import { type Child, el, div } from './element.ts'
import { wordList } from './key-limits.ts'
import type { View } from './page.ts'
import { copied, field, heading, link, note, section, stack, select, form, sending, fieldset } from './parts.ts'
import { type Lines, tried } from './trial.ts'

/** Kinds of backends that an address and a key describe; `sealgate check` tries the others on the machine itself. */
const kinds: readonly string[] = [
  ...['openai', 'anthropic', 'azure', 'cohere', 'deepseek', 'fireworks', 'gemini', 'groq'],
  ...['mistral', 'ollama', 'openrouter', 'sglang', 'together', 'vllm', 'xai'],
]

/** What the lines say, and what a trial takes beside them. */
export interface Written {
  readonly lines: Lines
  /** The model of the test call; null for none. */
  readonly call: string | null
  readonly secrets: Readonly<Record<string, string>>
}

const guardsIn = (fields: FormData): Lines => {
  const words = wordList(fields, 'words')
  return {
    ...(fields.has('redact') && { redact: {} }),
    ...(words !== null && { words: { lists: { own: { words, then: String(fields.get('then')) } } } }),
  }
}

/** The part of a configuration file that the fields describe; an empty part is left out. */
export const writtenIn = (fields: FormData): Written => {
  const text = (name: string) => String(fields.get(name) ?? '').trim()
  const [provider, model, variable, secret] = [text('provider'), text('model'), text('variable'), text('secret')]
  const address = text('address')
  const backend = {
    use: text('use'),
    ...(address !== '' && { baseUrl: address }),
    ...(variable !== '' && { apiKey: `$${variable}` }),
  }
  const own = text('own')
  const chain = { upstreams: [{ provider: text('of') || provider, ...(own !== '' && { model: own }) }] }
  const guards = guardsIn(fields)
  return {
    lines: {
      ...(provider !== '' && { providers: { [provider]: backend } }),
      ...(model !== '' && { models: { [model]: chain } }),
      ...(Object.keys(guards).length > 0 && { guards }),
    },
    call: model === '' || !fields.has('call') ? null : model,
    secrets: variable !== '' && secret !== '' ? { [variable]: secret } : {},
  }
}

const plain = { autocomplete: 'off', spellcheck: 'false' } as const

const backendFields = (): readonly Child[] => [
  field('Name of the backend', 'Empty for no new backend.', el('input', { name: 'provider', ...plain })),
  field(
    'Kind',
    'The vendor or the program.',
    select(
      { name: 'use' },
      kinds.map((kind) => [kind, kind]),
    ),
  ),
  field('Address', 'Empty for the address of the vendor.', el('input', { name: 'address', type: 'url', ...plain })),
  field(
    'Variable of the secret',
    'The lines name the variable alone, such as OPENAI_API_KEY.',
    el('input', { name: 'variable', pattern: '[A-Z][A-Z0-9_]*', ...plain }),
  ),
  field(
    'Secret for the test call',
    'The gateway uses the secret once, and keeps it nowhere.',
    el('input', { name: 'secret', type: 'password', autocomplete: 'off' }),
  ),
]

const modelFields = (): readonly Child[] => [
  field(
    'Name of the model',
    'As callers name the model; empty for no model.',
    el('input', { name: 'model', ...plain }),
  ),
  field('Backend', 'Empty for the new backend above.', el('input', { name: 'of', ...plain })),
  field('Name at the backend', 'Empty for the same name.', el('input', { name: 'own', ...plain })),
  el(
    'label',
    { class: 'check' },
    el('input', { type: 'checkbox', name: 'call', checked: true }),
    'Call the model once, at its price',
  ),
]

const guardFields = (): readonly Child[] => [
  el('label', { class: 'check' }, el('input', { type: 'checkbox', name: 'redact' }), 'Hide personal data in requests'),
  field('Words', 'Words with spaces between them; empty for no list.', el('input', { name: 'words', ...plain })),
  field(
    'A found word',
    'What happens to a request or an answer with such a word.',
    select(
      { name: 'then' },
      ['refuse', 'replace', 'mark'].map((value) => [value, value]),
    ),
  ),
]

/** Lines for the configuration file, made and tried here. The file stays the one place of them. */
export const linesForm = (view: View): readonly Child[] => {
  const [place, found] = [stack(), stack()]
  const draw = (): void => {
    found.replaceChildren()
    const { lines } = writtenIn(new FormData(own))
    place.replaceChildren(
      Object.keys(lines).length === 0
        ? note('The lines appear here.')
        : copied(JSON.stringify(lines, null, 2), 'The lines for the configuration file'),
    )
  }
  const check = async (): Promise<void> => {
    const { lines, call, secrets } = writtenIn(new FormData(own))
    found.replaceChildren(note('The gateway checks the lines.'))
    found.replaceChildren(await tried(view, lines, call, secrets))
  }
  const own = form(
    check,
    fieldset('Backend', div('pair', backendFields())),
    fieldset('Model', div('pair', modelFields())),
    fieldset('Guards', div('pair', guardFields())),
    sending('Check and call'),
  )
  own.addEventListener('input', draw)
  draw()
  return [
    heading('New lines', link('All settings', '#/settings')),
    section('What the file should have', own),
    section('Lines for the configuration file', place),
    found,
    note(
      'Write the lines into the configuration file, set the variable, and reload. Nothing changes here. ',
      'A new private address is refused here: ',
      el('code', {}, 'sealgate check'),
      ' tries it on the machine.',
    ),
  ]
}
