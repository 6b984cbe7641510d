import { Unconfigured } from '../../../core/errors.ts'
import { styleText } from './style.ts'
import type { Survey, Surveyed } from '../survey.ts'
import { still } from '../log/worded-line.ts'
import { reasonOf } from './reasons.ts'

/** The facts that a start shows. */
export interface StartFacts {
  readonly version: string
  readonly url: string
  readonly surfaces: readonly string[]
  /** The path segments of the families of routes. */
  readonly names: { readonly compat: string; readonly std: string; readonly v1: string }
  /** The configuration file; null when the environment configures the gateway. */
  readonly configuration: string | null
  /** The folder of the embedded stores. */
  readonly data: string
  /** Names of abilities without their packages. */
  readonly lacks: readonly string[]
  /** The new first key with a link to the console, if any, or the file that holds the key; null when no key was made. */
  readonly key: { readonly credential: string; readonly link: string | null } | { readonly file: string } | null
}

/** A label, its text, and the lines below. */
type Row = readonly [label: string, ...lines: readonly string[]]

/** Models that the screen names; a count stands for the rest. */
const mostNamed = 6
/** Characters of a label, with the blanks behind it. */
const column = 15

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const modelsLine = ({ models }: Survey): string => {
  const named = models.slice(0, mostNamed).map(({ name }) => still(name))
  const rest = models.length - named.length
  return models.length === 0 ? 'none' : `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

const backendLine = ({ name, models, fault, pretends }: Surveyed, colour: boolean): string =>
  models === null
    ? `${styleText('red', '✗', colour)} ${name}: ${reasonOf(fault)}`
    : `${styleText('green', '✓', colour)} ${name}: ${plural(models.length, 'model')}${pretends ? ', which only rehearse' : ''}`

const backendLines = ({ backends }: Survey, colour: boolean): readonly string[] =>
  backends.length === 0 ? ['none'] : backends.map((backend) => backendLine(backend, colour))

/** In one sentence, what each kind of evidence is worth to a caller. */
const proofs: Readonly<Record<string, string>> = {
  dev: 'development: it proves nothing. Whoever runs this machine can read what is sealed.',
  'sev-snp': 'sev-snp: evidence of AMD shows which code reads what is sealed; sealgate verify checks it.',
  tdx: 'tdx: evidence of Intel shows which code reads what is sealed; sealgate verify checks it.',
  nitro: 'nitro: evidence of AWS shows which code reads what is sealed; sealgate verify checks it.',
}

const enclaveLine = ({ evidence, enclaveFault }: Survey, colour: boolean): string =>
  enclaveFault instanceof Unconfigured
    ? 'none: this gateway serves without sealing'
    : evidence === null
      ? `${styleText('red', '✗', colour)} ${reasonOf(enclaveFault)}`
      : styleText('yellow', proofs[evidence] ?? `${evidence}: its evidence is checked by sealgate verify`, colour)

const apiLines = ({ url, surfaces, names }: StartFacts): readonly string[] => [
  ...(surfaces.includes('v1')
    ? [`${url}/${names.v1}   for clients of OpenAI and Anthropic; ${url}/v1beta for Gemini`]
    : []),
  ...(surfaces.includes('chat') ? [`${url}/${names.std}   standard chat, audio and images`] : []),
  ...(surfaces.includes('decision') ? [`${url}/${names.compat}/v1/decision   typed decisions`] : []),
]

/** A shell word for any text. */
const quoted = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** A credential in a file is read by the shell, so that it never stands on the screen. */
const exportLine = (key: NonNullable<StartFacts['key']>): string =>
  'credential' in key ? `export SEALGATE_KEY=${key.credential}` : `export SEALGATE_KEY="$(cat ${quoted(key.file)})"`

/** A call that works after the key is exported; null when no route serves a model. */
const curlLines = ({ url, surfaces, names }: StartFacts, { models, backends }: Survey): readonly string[] | null => {
  const own = new Set(
    backends.filter(({ pretends }) => !pretends).flatMap((backend) => backend.models?.map(({ id }) => id) ?? []),
  )
  const chats = models.filter(({ type }) => type === 'CHAT')
  const model = chats.find(({ name }) => own.has(name)) ?? chats[0]
  const path = surfaces.includes('v1') ? names.v1 : surfaces.includes('chat') ? names.std : null
  if (model === undefined || path === null) return null
  const body = JSON.stringify({ model: model.name, messages: [{ role: 'user', content: 'Hello' }] })
  return [
    `curl ${url}/${path}/chat/completions -H "Authorization: Bearer $SEALGATE_KEY" \\`,
    `  -H 'Content-Type: application/json' -d ${quoted(still(body))}`,
  ]
}

/** The command that installs abilities: the names of their packages would not fit a line. */
const adding = (names: readonly string[]): string => `sealgate add ${names.join(' ')}`

const keyRows = (key: StartFacts['key']): readonly Row[] => {
  if (key === null) return []
  if ('file' in key) return [['key', exportLine(key)]]
  const row: Row = ['key', exportLine(key), 'The key has every scope and is shown only now.']
  return key.link === null ? [row] : [row, ['console', key.link, 'The link signs in once, within five minutes.']]
}

const rowsOf = (start: StartFacts, survey: Survey, colour: boolean): readonly Row[] => {
  const { url, surfaces, configuration, data, key } = start
  const curl = curlLines(start, survey)
  return [
    ['page', `${url}/`, surfaces.includes('console') ? `${url}/console   the console` : ''],
    ['API', ...apiLines(start)],
    ['docs', `${url}/docs   ${url}/openapi.json`],
    ['backends', ...backendLines(survey, colour)],
    ['models', modelsLine(survey)],
    ['data', data],
    ['configuration', configuration ?? 'none: the environment decides'],
    ['enclave', enclaveLine(survey, colour)],
    ...(start.lacks.length === 0 ? [] : [['lacks', start.lacks.join(', '), adding(start.lacks)] as Row]),
    ...keyRows(key),
    ...(curl === null ? [] : [['try', ...curl] as Row]),
  ]
}

/** The first screen of a terminal. */
export const firstScreen = (start: StartFacts, survey: Survey, colour: boolean): string => {
  const rows = rowsOf(start, survey, colour).map(([label, ...lines]) =>
    lines
      .filter((line) => line !== '')
      .map((line, at) => `  ${styleText('dim', (at === 0 ? label : '').padEnd(column), colour)}${line}`)
      .join('\n'),
  )
  const head = `${styleText('bold', `sealgate ${start.version}`, colour)} serves ${start.url}`
  return `\n${head}\n\n${rows.filter((row) => row !== '').join('\n')}\n\n`
}

/** The first screen without a terminal: one line per fact, and no key. */
export const plainLines = (start: StartFacts, survey: Survey): string => {
  const { version, url, configuration, data } = start
  return [
    `${version}: page ${url}/, docs ${url}/docs`,
    ...apiLines(start).map((line) => `API ${line.replace('   ', ' ')}`),
    ...backendLines(survey, false).map((line) => `backend ${line}`),
    `models: ${modelsLine(survey)}`,
    `data: ${data}; configuration: ${configuration ?? 'none'}`,
    `enclave ${enclaveLine(survey, false)}`,
    ...(start.lacks.length === 0 ? [] : [`lacks ${start.lacks.join(', ')}: ${adding(start.lacks)}`]),
  ]
    .map((line) => `sealgate ${line}\n`)
    .join('')
}
