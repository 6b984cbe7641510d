import { posix } from 'node:path'

/** The static imports of a script: they load before it runs. A script that `import()` names loads later. */
const named = /\b(?:from|import)\s*["'](\.[^"']+)["']/g

/** The scripts without which nothing is shown: `main.js`, and all that it names, each by way of others too. */
export const firstView = (files: ReadonlyMap<string, { readonly bytes: Uint8Array }>): ReadonlySet<string> => {
  const first = new Set(['main.js'])
  for (const name of first) {
    const code = Buffer.from(files.get(name)?.bytes ?? []).toString()
    for (const [, to = ''] of code.matchAll(named)) first.add(posix.join(posix.dirname(name), to))
  }
  return first
}
