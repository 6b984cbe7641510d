import { execFile } from 'node:child_process'
import { cp, readFile, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { memory } from '../adapters/memory/index.ts'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { pluginNames } from '../adapters/production/config/load-plugin.ts'
import { production } from '../adapters/production/index.ts'
import { scopes } from '../core/access/caller.ts'
import { sentences } from '../plugins/sealed/client/error.ts'
import { refusalTexts } from '../plugins/sealed/enclave/refusals.ts'
import { describeInterface } from '../plugins/surfaces/docs/api-docs.ts'
import { alone } from '../core/own-parts.ts'
import { Metrics, metrics } from '../plugins/observers/prometheus/metrics.ts'
import { use } from '../core/plugin.ts'
import { referenceOf } from '../plugins/surfaces/docs/documents.ts'
import { SettingsShape } from '../core/settings.ts'
import useLite from '../plugins/providers/use-lite.ts'
import { pages } from './docs.ts'
import { blocksOf } from './docs/blocks.ts'
import { configurationRows } from './docs/configuration.ts'
import { meanings, pluginSettings } from './docs/meanings.ts'
import { hardSentences } from './docs/sentences.ts'
import { running } from './environments.ts'
import { everyRoute, surfaceChapters } from './every-route.ts'
import { planned } from './suite/plan.ts'
import { made } from './fitted.ts'

const run = promisify(execFile)
const found = async (folder: string) => (await readdir(folder, { recursive: true })).map((file) => join(folder, file))
const files = ['README.md', 'SECURITY.md', ...(await found('docs')).filter((file) => file.endsWith('.md'))].sort()
const texts = new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)))
const generated = await pages()
const exists = (path: string) =>
  readFile(path).then(
    () => true,
    (fault) => fault.code === 'EISDIR',
  )

const marked = (mark: string) =>
  files.flatMap((file) =>
    blocksOf(texts.get(file)!)
      .filter((block) => block.mark === mark)
      .map(({ text }) => ({ file, text })),
  )

/** The prose, without blocks of code and the names of files that are to be written. */
const proseOf = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/^`[^`]+`:$/gm, '')

const settings = v.parse(SettingsShape, {})
const reference = async () => referenceOf(surfaceChapters)
const routes = [...everyRoute, ...describeInterface([], settings, reference)]
const isRoute = (method: string | null, path: string) =>
  routes.some((route) => {
    const pattern = new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`)
    return (
      (method === null || route.method === method) && pattern.test(path.replace(/[?#].*$/, '').replace(/\{\w+\}/g, 'x'))
    )
  })

t.test('made pages are up to date: npm run docs', async (t) => {
  for (const [path, text] of Object.entries(generated))
    t.equal(await readFile(path, 'utf8').catch(() => ''), text, path)
})

t.test('sentences of pages begin with a noun and have at most 25 words', async (t) => {
  const words = 'The gateway sends one more word and '
  t.same(hardSentences(`${words.repeat(3)}stops here. ${words.repeat(3)}then stops here \`now\`.`).length, 0)
  t.same(hardSentences(`${words.repeat(3)}stops the call at once.\n\n* It stops.\n\n## What stops`), [
    `${words.repeat(3)}stops the call at once.`,
    'It stops.',
  ])
  for (const file of ['AGENTS.md', 'CONTRIBUTING.md', 'CHANGELOG.md'])
    t.same(hardSentences(await readFile(file, 'utf8')), [], file)
  // Decisions and changes of the past stay as they were written.
  for (const [file, text] of texts)
    if (!/^docs\/(?:adr\/|changes\.md)/.test(file)) t.same(hardSentences(text), [], file)
})

t.test('every setting has a meaning, and every meaning a setting', async (t) => {
  t.same(
    Object.keys(meanings).sort(),
    configurationRows()
      .map(({ path }) => path)
      .sort(),
  )
})

t.test(
  'every plugin is described, each of its settings has a meaning, and every sentence that is kept is said',
  async (t) => {
    const page = generated['docs/plugins.md']!
    t.same(page.match(/^### .*\n\n(?:\n|Port )/gm) ?? [], [])
    t.same(page.match(/^.*\| +\|$/gm) ?? [], [])
    for (const sentence of Object.values(pluginSettings)) t.ok(page.includes(`| ${sentence} |`), sentence)
  },
)

t.test('the table of providers names every one', async (t) => {
  const page = await readFile('docs/providers.md', 'utf8')
  const named = [...page.matchAll(/^\| (`(?!use`)[^|]*`) \|/gm)].flatMap(([, cell]) => cell!.split(', '))
  t.same(named.map((name) => name.slice(1, -1)).sort(), [...pluginNames('providers')].sort())
})

t.test('links lead somewhere', async (t) => {
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-')
  const anchors = (text: string) => [...proseOf(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => slug(heading!))
  let seen = 0
  for (const [file, text] of texts) {
    for (const [, target] of proseOf(text).matchAll(/\]\(([^)]+)\)/g)) {
      if (/^https?:/.test(target!)) continue
      seen++
      const [path, anchor] = target!.split('#')
      const to = path === '' ? file : normalize(join(dirname(file), path!))
      if (!(await exists(to))) t.fail(`${file}: ${target}`)
      else if (anchor !== undefined && !anchors(await readFile(to, 'utf8')).includes(anchor))
        t.fail(`${file}: ${target}`)
    }
  }
  t.ok(seen > 30, `${seen} links`)
})

t.test('code that is said to be from a file is in that file', async (t) => {
  let seen = 0
  for (const [file, text] of texts) {
    for (const { mark, text: code } of blocksOf(text)) {
      const from = mark === null ? null : /^from (\S+)$/.exec(mark)?.[1]
      if (!from) continue
      seen++
      t.ok((await readFile(from, 'utf8')).includes(code), `${file}: ${from}`)
    }
  }
  t.ok(seen >= 8, `${seen} blocks`)
})

t.test('files of one’s own, as the pages show them, keep their contracts', async (t) => {
  const folder = t.testdir()
  await cp('test/vectors/providers/sglang', join(folder, 'answers'), { recursive: true })
  const own = [...texts.values()].flatMap(blocksOf).flatMap(({ mark, text }) => {
    const name = mark === null ? undefined : /^own file (\S+)$/.exec(mark)?.[1]
    return name === undefined ? [] : [{ name, text }]
  })
  for (const { name, text } of own) await writeFile(join(folder, name), text)
  const tests = own.filter(({ name }) => name.endsWith('.test.js'))
  t.equal(tests.length, 2)
  for (const { name } of tests) {
    const { stdout } = await run(process.execPath, ['--test', name], { cwd: folder })
    t.match(stdout, /^\S+ pass ([7-9]|\d{2})$/m, name)
  }
})

t.test('paths, routes and commands that are named exist', async (t) => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> }
  const main = await readFile('adapters/production/main.ts', 'utf8')
  const named = { file: 0, route: 0, command: 0 }
  const check = (kind: keyof typeof named, ok: boolean, what: string) => {
    named[kind]++
    if (!ok) t.fail(what)
  }
  for (const [file, text] of texts) {
    for (const [, code] of proseOf(text).matchAll(/`([^`\n]+)`/g)) {
      const path = /^(?:core|plugins|adapters|examples|test|docs)\/[\w./-]+$/.exec(code!)?.[0]
      if (path !== undefined && !/NNNN/.test(path)) check('file', await exists(path), `${file}: ${path}`)
      const [, method, route] = /^(GET|POST|PATCH|DELETE) (\/\S*)/.exec(code!) ?? []
      if (route !== undefined) check('route', isRoute(method!, route), `${file}: ${code}`)
      else if (/^\/[a-z]+(\/[a-z0-9/]+)?$/.test(code!)) check('route', isRoute(null, code!), `${file}: ${code}`)
    }
    for (const [, script] of text.matchAll(/\bnpm (?:run )?(start|test|(?<=run )[\w:]+)/g)) {
      check('command', scripts[script!] !== undefined, `${file}: npm ${script}`)
    }
    for (const [, program] of text.matchAll(/\bnode dist\/(\S+)\.js\b/g)) {
      check('command', await exists(`${program}.ts`), `${file}: ${program}`)
    }
    for (const [, command] of text.matchAll(/`sealgate (\w+)/g)) {
      check(
        'command',
        command === 'listening' || new RegExp(`^  (?:async )?${command}[:(]`, 'm').test(main),
        `${file}: sealgate ${command}`,
      )
    }
    for (const { text: code } of blocksOf(text)) {
      for (const [, path] of code.matchAll(/^curl .*?https?:\/\/[^/\s]+(\/\S*)/gm)) {
        check('route', isRoute(/ -d | -X POST/.test(code) ? 'POST' : 'GET', path!), `${file}: ${path}`)
      }
    }
  }
  t.ok(named.file > 30 && named.route > 15 && named.command > 8, JSON.stringify(named))
})

t.test('configurations stand up to the boot', async (t) => {
  const env = new Proxy(
    {},
    {
      get: (_, name) => (String(name).includes('REDIS') ? 'redis://host.invalid' : 'https://host.invalid'),
    },
  )
  const all = marked('checked as configuration')
  t.ok(all.length >= 1)
  for (const { file, text } of all) {
    await t.resolves(async () => production(checkedConfig(JSON.parse(text), env), t.testdir()), file)
  }
  for (const [file, text] of texts) {
    for (const { language, text: code } of blocksOf(text)) if (language === 'json') t.ok(JSON.parse(code), file)
  }
})

t.test('each of the wants has a verdict, and a test that is there', async (t) => {
  const [, chapter = ''] = /## Twenty-five wants\n([^#]*)/.exec(texts.get('docs/compared.md')!) ?? []
  const rows = [...chapter.matchAll(/^\| (.+) \| (\w+) \| (.*) \| `npm run try (\S+)` \|$/gm)]
  t.equal(rows.length, 25)
  const suite = new Set((await planned('all')).turns.flat())
  for (const [, want = '', verdict = '', limit, file] of rows) {
    t.match(verdict, /^(yes|partly|no)$/, want)
    t.ok(verdict === 'yes' || limit !== '', `${want}: says how far`)
    await t.resolves(readFile(file!), `${want}: ${file}`)
    t.ok(suite.has(`dist/${file!.replace(/\.ts$/, '.js')}`), `${want}: the suite plays ${file}`)
  }
})

t.test('the lists of words are whole', async (t) => {
  const says = (file: string, words: readonly string[]) => {
    for (const word of words) if (!texts.get(file)!.includes(word)) t.fail(`${file} does not say ${word}`)
  }
  for (const [code, { status, message }] of Object.entries(refusalTexts)) {
    says('docs/errors.md', [`| \`${code}\` | ${status} | ${message} |`])
  }
  for (const [fault, sentence] of Object.entries(sentences)) says('docs/errors.md', [`| \`${fault}\` | ${sentence} |`])
  const measured = made(Metrics, use(metrics), use(alone))
    .registry.getMetricsAsArray()
    .map(({ name }) => `| \`${name}\` |`)
  t.ok(measured.length > 0)
  says('docs/operations.md', measured)
  says(
    'docs/security.md',
    scopes.map((scope) => `\`${scope}\``),
  )
  const sources = [...(await found('core')), ...(await found('adapters'))].filter((file) => file.endsWith('.ts'))
  const events = (await Promise.all(sources.map((file) => readFile(file, 'utf8')))).flatMap((text) =>
    [...text.matchAll(/\blog\.(?:info|warn|error)\('([\w.]+)'/g)].map(([, event]) => `\`${event}\``),
  )
  t.ok(events.length > 5)
  says('docs/operations.md', events)
})

t.test('the answer in the README is the real one', async (t) => {
  const [asked] = marked('checked as request')
  const [shown] = marked('checked as answer')
  const body = / -d '([\s\S]*)'/.exec(asked!.text)![1]!
  const gateway = await running(t, { ...memory(), upstreams: [use(useLite)] })
  const answer = await gateway.call('POST', '/compat/v1/decision', body)
  t.equal(answer.status, 200)
  // Processors differ in the last digits.
  const plain = (json: string) =>
    JSON.parse(json, (key, value) =>
      key === 'timing_ms' ? 0 : typeof value === 'number' ? Number(value.toFixed(4)) : value,
    )
  t.same(plain(await answer.text()), plain(shown!.text))
})

/** Looks for the tests and titles in the last column of each table, and counts the lines that name one. */
const namedTests = async (t: Test, name: string, page: string): Promise<number> => {
  let [file, seen] = ['', 0]
  for (const row of page.match(/^\| .* \|$/gm) ?? []) {
    const cell = row.split('|').at(-2)!
    if (!/`[\w/.-]+\.ts`|^ (?:the same|a line that|whoever|a file stays)/.test(cell)) continue
    seen++
    for (const [, path, title] of cell.matchAll(/`([\w/.-]+\.ts)`|"([^"]+)"/g)) {
      if (path !== undefined) file = path.includes('/') ? path : `test/plugins/sealed/evidence/${path}`
      const text = await readFile(file, 'utf8').catch(() => '')
      if (text === '') t.fail(`${name} names ${file}`)
      else if (title !== undefined && !text.includes(title)) t.fail(`${file} has no “${title}”`)
    }
  }
  return seen
}

t.test('each line of security.md that names a test has one', async (t) => {
  const seen = await namedTests(t, 'security.md', texts.get('docs/security.md')!)
  t.ok(seen > 60, `${seen} lines`)
})

t.test('each line of evidence.md on what CI shows has its test and its title', async (t) => {
  const [, page = ''] = texts.get('docs/evidence.md')!.split('\n## What CI shows\n')
  const rows = page.match(/^\| .* \|$/gm) ?? []
  const bare = rows.slice(1).filter((row) => !/`[\w/.-]+\.ts`, "/.test(row))
  t.strictSame(bare, [], 'a file and a title in each')
  t.equal(await namedTests(t, 'evidence.md', page), rows.length - 1)
  t.ok(rows.length > 40, `${rows.length} lines`)
})

t.test('operations.md knows every event of the log', async (t) => {
  const sources = (await Promise.all(['core', 'adapters', 'plugins'].map(found)))
    .flat()
    .filter((text) => text.endsWith('.ts'))
  const code = (await Promise.all(sources.map((file) => readFile(file, 'utf8')))).join('\n')
  const events = new Set(
    [...code.matchAll(/log\.(?:info|warn|error)\(\s*'([^']+)'|event: '(log\.[^']+)'/g)].map(
      (match) => match[1] ?? match[2],
    ),
  )
  const rows = new Set(
    [...texts.get('docs/operations.md')!.matchAll(/^\| (`[a-z0-9.`, ]+) \| [a-z, ]+ \|/gm)].flatMap(([, names]) =>
      names!.split(', ').map((name) => name.slice(1, -1)),
    ),
  )
  t.ok(events.size > 10 && events.has('log.lost'))
  t.same(
    [...events].filter((event) => !rows.has(event!)),
    [],
  )
})

t.test('twenty questions are answered with paths that exist', async (t) => {
  const [, answers] = /\*\*Where is it\?\*\*[^\n]*\n\n\| question \| answer \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(
    texts.get('docs/contributing.md')!,
  )!
  const rows = answers!.trim().split('\n')
  t.equal(rows.length, 20)
  for (const row of rows) {
    const paths = [...row.matchAll(/`((?:core|plugins|adapters|test)\/[^`]+)`/g)].map(([, path]) => path!)
    t.ok(paths.length > 0, row)
    for (const path of paths) t.ok(await exists(path), path)
  }
})
