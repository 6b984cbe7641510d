import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const parts = '/etc/apt/sources.list.d'

/** The archives that the machine knows, asked for sources too, in both formats of their list. */
const withSources = (text: string): string =>
  text.replace(/^Types: *deb *$/gm, 'Types: deb-src').replace(/^deb( .+)$/gm, 'deb-src$1')

const made: { args: readonly string[] | null } = { args: null }

/** Options by which apt reads lists of its own, since most machines list no sources. */
const ownLists = (): readonly string[] => {
  if (made.args !== null) return made.args
  const root = mkdtempSync(join(tmpdir(), 'sealgate-bench-apt-'))
  const [sources, lists, cache] = ['sources.list.d', 'lists', 'cache'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  for (const place of [sources, join(lists, 'partial'), cache]) mkdirSync(place, { recursive: true })
  const known = existsSync(parts) ? readdirSync(parts).map((name) => join(parts, name)) : []
  for (const path of ['/etc/apt/sources.list', ...known].filter(existsSync))
    writeFileSync(join(sources, basename(path)), withSources(readFileSync(path, 'utf8')))
  const options = {
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': sources,
    'Dir::State::lists': lists,
    'Dir::Cache': cache,
  }
  const args = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  execFileSync('apt-get', [...args, '-qq', 'update'], { stdio: ['ignore', 'ignore', 'inherit'] })
  return (made.args = args)
}

/** Downloads the archives of a source package of Debian, and unpacks nothing. */
export const fetchSource = (name: string, into: string): void => {
  const args = [...ownLists(), '-qq', 'source', '--download-only', '--tar-only', name]
  execFileSync('apt-get', args, { cwd: into, stdio: ['ignore', 'ignore', 'inherit'] })
}
