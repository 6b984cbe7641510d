import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** The files that npm puts into the package. */
export const packedFiles = (): ReadonlySet<string> => {
  const told = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  const [packed] = JSON.parse(told) as [{ readonly files: readonly { readonly path: string }[] }]
  return new Set(packed.files.map(({ path }) => path))
}

const note =
  'Paths of `core`, `plugins`, `adapters`, `test` and `docs` in this page name files of the source, which are not all in the package.'

const link = /\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)/g
const mention = /`((?:core|plugins|adapters|test|docs)\/[\w./-]+)`/g

/** A page as the package has it: what it links to is in the package, and a path of the source is named as one. */
export const packedPage = (path: string, text: string, packed: ReadonlySet<string>): string => {
  const isThere = (target: string): boolean =>
    packed.has(target) || (existsSync(target) && [...packed].some((text) => text.startsWith(`${target}/`)))
  const linked = text.replace(link, (whole, words: string, target: string) =>
    /^\w+:/.test(target) || isThere(normalize(join(dirname(path), target))) ? whole : words,
  )
  const isOfSource = [...linked.matchAll(mention)].some(([, target = '']) => !isThere(target))
  return isOfSource ? linked.replace(/^(# .*\n)/m, `$1\n${note}\n`) : linked
}

/** All pages of the package by their paths. */
export const packedPages = (packed = packedFiles()): ReadonlyMap<string, string> => {
  const pages = [...packed].filter((path) => path.endsWith('.md'))
  return new Map(pages.map((path) => [path, packedPage(path, readFileSync(path, 'utf8'), packed)]))
}

const data = ['docs/config.schema.json', 'npm-shrinkwrap.json']

/** Data that programs alone read, without its blanks. */
export const packedData = (): ReadonlyMap<string, string> =>
  new Map(data.map((path) => [path, JSON.stringify(JSON.parse(readFileSync(path, 'utf8')))]))
