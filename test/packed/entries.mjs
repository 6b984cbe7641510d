import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Every path that `exports` of an unpacked package promises, but for its JSON, as `sealgate/…`. Of plugins, those of one level. */
export const entriesOf = (unpacked) => {
  const { exports } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'))
  const shipped = readdirSync(unpacked, { recursive: true }).map((file) => `./${file}`)
  const paths = Object.entries(exports).flatMap(([name, target]) => {
    if (name.endsWith('.json')) return []
    const [before, after] = target.default.split('*')
    if (after === undefined) return [name]
    const levels = name === './plugins/*' ? 2 : 1
    const found = shipped.filter((file) => file.startsWith(before) && file.endsWith(after))
    return found
      .map((file) => file.slice(before.length, -after.length))
      .filter((path) => path.split('/').length === levels)
      .filter((path) => !/^(shared|sealed|usage)\//.test(path))
      .map((path) => name.replace('*', path))
  })
  return paths.map((path) => `sealgate${path.slice(1)}`)
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
