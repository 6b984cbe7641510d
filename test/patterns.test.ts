import './fakes/unwatched.ts'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { nameMatcher } from '../adapters/local/mcp/glob.ts'
import { wordsPattern } from '../plugins/guards/words/pattern.ts'
import { steepText } from './patterns/growth.ts'
import { type Found, checkedNames, patternsIn } from './patterns/patterns-in.ts'
import { readsBeginning } from './patterns/read-pattern.ts'

/** How many patterns of a file may be steep, and what keeps their texts short or honest. */
const bounded: Readonly<Record<string, readonly [most: number, why: string]>> = {
  'plugins/guards/redact.ts': [2, 'the end of a text, no longer than an IBAN'],
  'plugins/readers/data/data-parquet.ts': [1, 'nine digits of a second'],
  'plugins/sealed/evidence/services/nvidia.ts': [1, 'a certificate of at most 8,192 characters'],
  'plugins/shared/charset.ts': [1, 'the first 4,096 bytes of a page'],
  'plugins/shared/redact-sentence.ts': [5, 'the first 2,000 characters of a sentence of a backend'],
  'plugins/shared/refusal.ts': [1, 'the first 4,096 characters of a message of a backend'],
  'plugins/surfaces/console/browser-modules.ts': [4, 'scripts of this package'],
  'plugins/surfaces/console/browser/traffic-view.ts': [2, 'a time of day as the browser prints it'],
  'plugins/surfaces/console/browser/sealed/seen-fields.ts': [1, 'a form that the tab of the reader makes'],
}

/** Files that put more than constants into a pattern, with what they put there. */
const open: Readonly<Record<string, string>> = {
  'adapters/production/commands/release/provenance.ts': 'a length',
  'plugins/guards/words/pattern.ts': 'words of the operator, each letter as itself',
  'plugins/readers/spreadsheet/sheets-guard.ts': 'one of two names',
  'plugins/sealed/retrieval/fold.ts': 'the letters of a table',
  'plugins/shared/repeated-chunks.ts': 'one of two names',
  'plugins/storage/s3/xml.ts': 'the name of an element',
}

/** Files whose schemas check texts of an operator, as long as a file of settings. */
const ofOperators = [
  'adapters/production/config/collateral.ts',
  'adapters/production/redis/cache.ts',
  'adapters/production/redis/rate-limiter.ts',
  'core/settings.ts',
  'plugins/providers/bedrock.ts',
  'plugins/providers/vertex.ts',
  'plugins/shared/dialects/betas-settings.ts',
  'plugins/storage/redis.ts',
  'plugins/storage/s3.ts',
]

/** Of the built code of core, plugins and adapters, by the paths of its sources. */
const allPatterns = async () => {
  const files = await Promise.all(
    ['core', 'plugins', 'adapters'].map(async (top) =>
      (await readdir(join('dist', top), { recursive: true })).map((file) => join(top, file)),
    ),
  )
  const built = files.flat().filter((file) => file.endsWith('.js'))
  const read = built.map(async (file) => {
    const [source, code] = [file.replace(/js$/, 'ts'), await readFile(join('dist', file), 'utf8')]
    return { found: patternsIn(source, code), names: checkedNames(source, code) }
  })
  const all = await Promise.all(read)
  return { found: all.flatMap(({ found }) => found), names: new Set(all.flatMap(({ names }) => names)) }
}

const { found, names } = await allPatterns()

/** Where a pattern stands in its source; a made one has the line of the built code. */
const placeOf = async ({ file, line, pattern }: Found): Promise<string> => {
  const source = await readFile(file, 'utf8').catch(() => '')
  const at = source.split('\n').findIndex((text) => text.includes(String(pattern)))
  return `${file}:${at < 0 ? line : at + 1} ${String(pattern)}`
}

t.test('a steep pattern is found, and a straight one is not', (t) => {
  for (const pattern of [/^(a+)+$/, /\s+$/, /^\s*a/m, /^\s*\d*\s*$/, /"(?:[^"]|\\.)*"x/g])
    t.ok(steepText(pattern), String(pattern))
  for (const pattern of [/^a+$/, /(?<!\s)\s+$/, /^\d+\s*$/, /\w{1,40}@/g, /(?<![a-z])[a-z]+;/y])
    t.equal(steepText(pattern), null, String(pattern))
  t.end()
})

t.test('the time of no pattern grows faster than its text', async (t) => {
  t.ok(found.length > 700, `${found.length} patterns`)
  const distinct = new Map(found.map((finding) => [String(finding.pattern), finding.pattern]))
  const steep = new Set(
    [...distinct].filter(([, pattern]) => pattern !== null && steepText(pattern) !== null).map(([text]) => text),
  )
  const places = found.filter(({ pattern }) => steep.has(String(pattern)))
  t.same(await Promise.all(places.filter(({ file }) => bounded[file] === undefined).map(placeOf)), [])
  for (const [file, [most, why]] of Object.entries(bounded)) {
    const { length } = places.filter((place) => place.file === file)
    t.ok(length > 0 && length <= most, `${file}: ${length} see ${why}`)
  }
})

t.test(
  'a schema reads a bounded beginning of a text by its pattern, since no length before it keeps it away',
  async (t) => {
    t.ok(
      readsBeginning('^a{1,9}(?:b|c{2})$') &&
        !readsBeginning('^a+$') &&
        !readsBeginning('a$') &&
        !readsBeginning('^(?:a{2}){1,}$'),
    )
    const isNamed = (file: string, name: string) => names.has(name) || names.has(`${file} ${name}`)
    const checks = found.filter(({ file, checks }) => (typeof checks === 'string' ? isNamed(file, checks) : checks))
    t.ok(checks.length > 50, `${checks.length} patterns`)
    const long = checks.filter(({ pattern }) => pattern === null || !readsBeginning(pattern.source))
    t.same(await Promise.all(long.filter(({ file }) => !ofOperators.includes(file)).map(placeOf)), [])
    t.same(
      ofOperators.filter((file) => !long.some((finding) => finding.file === file)),
      [],
    )
  },
)

t.test('no file but these makes a pattern of what is no constant', (t) => {
  const files = new Set(found.filter(({ isOpen }) => isOpen).map(({ file }) => file))
  t.same([...files].toSorted(), Object.keys(open))
  t.end()
})

t.test('what an operator writes is no pattern, and costs a line of time', (t) => {
  const hostile = ['(a+)+$', '(a|a)*b', 'a a a a a a a a', '\\s+$', '[^]*[^]*x', '.*.*.*=.*']
  const words = wordsPattern(hostile)
  for (const word of hostile) t.same(`so ${word} so`.match(words), [word], 'a word means its letters')
  t.notMatch('aaaa', words)
  t.equal(steepText(words), null)
  t.equal(steepText(wordsPattern(['(a+)+$'])), null)
  const fits = nameMatcher('*a'.repeat(50) + '*b')
  const begun = performance.now()
  t.notOk(fits('a'.repeat(20_000)))
  t.ok(performance.now() - begun < 1_000, 'a glob with many stars')
  t.end()
})
