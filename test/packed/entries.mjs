import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Every path that `exports` of an unpacked package leads to, but for its JSON, as `sealgate/…`. */
export const entriesOf = (unpacked) => {
  const { exports } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'))
  const shipped = readdirSync(unpacked, { recursive: true }).map((file) => `./${file}`)
  const paths = Object.entries(exports).flatMap(([name, target]) => {
    // The programs of threads and processes are no entries.
    if (target === null || name.endsWith('.json')) return []
    const [before, after] = target.split('*')
    if (after === undefined) return [name]
    const of = shipped.filter((file) => file.startsWith(before) && file.endsWith(after))
    return of.map((file) => name.replace('*', file.slice(before.length, -after.length)))
  })
  const hidden = Object.keys(exports).filter((name) => exports[name] === null)
  const isHidden = (path) =>
    hidden.some((name) => (name.endsWith('*') ? path.startsWith(name.slice(0, -1)) : path === name))
  return [...new Set(paths)].filter((path) => !isHidden(path)).map((path) => `sealgate${path.slice(1)}`)
}

/** A program that loads each entry by `import` or by `require`, and prints what could not be loaded. */
export const loading = (entries, how) =>
  `const faults = []
   const fail = (entry) => ({ message }) => faults.push(entry + ': ' + message)
   const load = async (entry) => ${how}(entry)
   const all = ${JSON.stringify(entries)}
   all.reduce((before, entry) => before.then(() => load(entry)).catch(fail(entry)), Promise.resolve())
     .then(() => (console.log(faults.join('\\n')), process.exit()))`

/** A source that takes every name of every entry. */
export const naming = (entries) =>
  entries.map((entry, at) => `import * as e${at} from '${entry}'\nexport { e${at} }\n`).join('')

/** The strictest reading of declarations: those of dependencies are checked too. */
export const strict = JSON.stringify({
  compilerOptions: { strict: true, skipLibCheck: false, module: 'nodenext', target: 'es2022', noEmit: true, types: [] },
  files: ['all.mts', 'all.cts'],
})
