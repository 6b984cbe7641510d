import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'

/** What a browser loads for a name that Node resolves otherwise. */
const inBrowsers: Readonly<Record<string, string>> = {
  '#aead': 'plugins/sealed/wire/aead.js',
  '#ml-kem': 'plugins/sealed/wire/ml-kem.js',
  '#x25519': 'plugins/sealed/wire/x25519.js',
  // Parts of the curve that the client never calls: half of its bytes.
  './abstract/frost.js': 'plugins/surfaces/console/browser/sealed/uncalled-curves.js',
  './abstract/hash-to-curve.js': 'plugins/surfaces/console/browser/sealed/uncalled-curves.js',
  './abstract/oprf.js': 'plugins/surfaces/console/browser/sealed/uncalled-curves.js',
}

/** What a browser needs not: comments, but for those of licences, marks for bundlers, and the space before each line. */
const ballast = [
  /^[ \t]*\/\*(?!!)(?:(?!\*\/)[^])*\*\/[ \t]*\n/gm,
  /^[ \t]*\/\/.*(?:\n|$)/gm,
  /(?<=^[^'"`/\n]*)[ \t]+\/\/ .*$/gm,
  /\/\* @__PURE__ \*\/ /g,
  /^[ \t]+/gm,
]

/** Ends of lines behind which a statement goes on, or a new one begins in any case. A comment keeps its line. */
const needlessEnd = /^((?:(?!\/\/).)*[{,;])\n/gm

/** Marks that need no space beside them; `+` and `-` may. */
const spaced = / *([=>{}(),:?&|*<;[\]!]+) */g

/** A text of one line. */
const quotedText = /('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")/

/** A line without patterns, comments and long texts keeps only the spaces that tell its words apart. */
const tightened = (line: string): string => {
  const parts = line.split(quotedText)
  const isPlain = parts.every((part, at) => at % 2 === 1 || !/['"`/\\]/.test(part))
  return isPlain ? parts.map((part, at) => (at % 2 === 1 ? part : part.replace(spaced, '$1'))).join('') : line
}

/** The name of a file that is not served. */
const sourceMap = /^\/\/# sourceMappingURL=.*\n?$/m

/** Whether a text in backticks goes over several lines: space and comments in it are a part of the text. */
const hasLongText = (code: string): boolean =>
  code.split('\n').some((line) => (line.replace(/\\./g, '').split('`').length - 1) % 2 === 1)

const lightened = (code: string): string => {
  const light = ballast.reduce((text, part) => text.replace(part, ''), code)
  return hasLongText(light)
    ? code.replace(sourceMap, '')
    : light.split('\n').map(tightened).join('\n').replace(needlessEnd, '$1')
}

/** The imports of a script. */
const named = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])((?:\.|#|@)[^'"\n]+)\2/g

const slashed = (path: string): string => path.replaceAll('\\', '/')

export interface Folders {
  /** Of the console's own scripts. */
  readonly own: string
  /** Of all compiled code: the client that the scripts run stands in it. */
  readonly root: string
}

/** What a script is called in a browser: as in the console's folder, and without folders below `sealed` otherwise. */
const nameOf = ({ own, root }: Folders, path: string): string => {
  const inside = slashed(relative(own, path))
  if (!inside.startsWith('.')) return inside
  const [, packaged] = /^.*\/node_modules\/@(.+)$/.exec(slashed(path)) ?? []
  return `sealed/${(packaged ?? slashed(relative(root, path))).replaceAll('/', '.')}`
}

const resolved = ({ root }: Folders, specifier: string, by: string): string => {
  const inside = inBrowsers[specifier]
  if (inside !== undefined) return join(root, inside)
  return specifier.startsWith('.') ? join(dirname(by), specifier) : createRequire(by).resolve(specifier)
}

/**
 * The console's scripts and all that they import, by their names in a browser. Every import names a script of this map,
 * so a page needs neither a bundle nor a map of imports.
 */
export const browserModules = async (
  folders: Folders,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const scripts = new Map<string, string>()
  const queue = names.map((name) => join(folders.own, name))
  const known = new Map(queue.map((path) => [nameOf(folders, path), path]))
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const [by, own] = [path, nameOf(folders, path)]
    const code = lightened(await readFile(by, 'utf8'))
    const linked = code.replace(named, (_, before: string, quote: string, specifier: string) => {
      const to = resolved(folders, specifier, by)
      const name = nameOf(folders, to)
      if (!known.has(name)) queue.push(to)
      else if (known.get(name) !== to) throw new Error('Two scripts of the console have one name')
      known.set(name, to)
      const way = posix.relative(posix.dirname(own), name)
      return `${before}${quote}${way.startsWith('.') ? way : `./${way}`}${quote}`
    })
    scripts.set(own, linked)
  }
  return new Map([...scripts].sort(([one], [other]) => (one < other ? -1 : 1)))
}
