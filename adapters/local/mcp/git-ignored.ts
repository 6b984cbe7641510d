import { lstat, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { nameMatcher, pathMatcher } from './glob.ts'

/** One line of a `.gitignore`; `ignores` is false for a line with `!`, which takes a file back. */
interface Rule {
  readonly ignores: boolean
  readonly folderOnly: boolean
  /** The path is relative to the folder of the rule. */
  fits(parts: readonly string[]): boolean
}

/** Bytes of one file of rules: a longer one is refused, since skipping it would open files. */
const mostBytes = 1024 * 1024

/** Null for blank lines and comments. */
const ruleOf = (line: string): Rule | null => {
  if (line === '' || line.startsWith('#')) return null
  const ignores = !line.startsWith('!')
  const pattern = ignores ? line : line.slice(1)
  const folderOnly = pattern.endsWith('/')
  const bare = folderOnly ? pattern.slice(0, -1) : pattern
  if (bare === '') return null
  if (!bare.includes('/')) {
    const named = nameMatcher(bare)
    return { ignores, folderOnly, fits: (parts) => named(parts.at(-1) ?? '') }
  }
  return { ignores, folderOnly, fits: pathMatcher(bare.replace(/^\//, '')) }
}

/** Trailing blanks count only after a backslash. */
const trimmed = (line: string): string => {
  const text = line.replace(/\r$/, '')
  const kept = text.replace(/(?<! ) +$/, '')
  return kept !== text && /(^|[^\\])(\\\\)*\\$/.test(kept) ? `${kept} ` : kept
}

const rulesOf = (text: string): readonly Rule[] =>
  text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line) => ruleOf(trimmed(line)) ?? [])

/** A missing file has no rules. Throws when a file cannot be read. */
const readRules = async (file: string): Promise<readonly Rule[]> => {
  const { size } = await lstat(file).catch((cause) => {
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return { size: 0 }
    throw cause
  })
  if (size > mostBytes) throw new Error('The rules of git are too long')
  return size === 0 ? [] : rulesOf(await readFile(file, 'utf8'))
}

/** The top folder of the working copy that holds this folder; the folder itself when it is in no working copy. */
const topOf = async (folder: string): Promise<string> => {
  for (let at = folder; ; at = dirname(at)) {
    const found = await lstat(join(at, '.git')).catch(() => null)
    if (found !== null) return at
    if (at === dirname(at)) return folder
  }
}

/** The user's own file of rules, at git's default place. */
const everywhere = (env: NodeJS.ProcessEnv): string =>
  join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'git', 'ignore')

/**
 * True when git ignores the file, or a folder between the file and `root`. The rules of all folders above count. A root
 * that git ignores was named on purpose. No git program is started: a working copy may configure programs that git
 * runs.
 */
export const isGitIgnored = async (root: string, file: string, env: NodeJS.ProcessEnv): Promise<boolean> => {
  const top = await topOf(root)
  const parts = relative(top, file).split(sep)
  const above = parts.length - relative(root, file).split(sep).length
  const all = [{ depth: 0, rules: await readRules(everywhere(env)) }]
  all.push({ depth: 0, rules: await readRules(join(top, '.git', 'info', 'exclude')) })
  for (let depth = 0; depth < parts.length; depth++) {
    all.push({ depth, rules: await readRules(join(top, ...parts.slice(0, depth), '.gitignore')) })
    if (depth < above) continue
    const path = parts.slice(0, depth + 1)
    const isFolder = depth < parts.length - 1
    const fitting = all.flatMap(({ depth: from, rules }) =>
      rules.filter((rule) => (isFolder || !rule.folderOnly) && rule.fits(path.slice(from))),
    )
    if (fitting.at(-1)?.ignores) return true
  }
  return false
}
