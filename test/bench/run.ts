import { cpus, release, type } from 'node:os'
import { parseArgs } from 'node:util'
import { demandQuiet, load } from './quiet.ts'

/** Ratios of CPU against a baseline of the same run; absolute times are only told. `npm run bench [-- --force] [name …]` */
const chapters: Readonly<Record<string, () => Promise<Iterable<string> | AsyncIterable<string>>>> = {
  house: async () => (await import('./house.ts')).house(),
  chat: async () => (await import('./chat.ts')).chat(),
  sealed: async () => (await import('./sealed.ts')).sealed(),
  files: async () => (await import('./files.ts')).files(),
  workers: async () => (await import('./workers.ts')).workers(),
  kills: async () => (await import('./kills.ts')).kills(),
  outages: async () => (await import('./outages.ts')).outages(),
}

const { values, positionals: wanted } = parseArgs({ options: { force: { type: 'boolean' } }, allowPositionals: true })
const strange = wanted.filter((name) => !Object.hasOwn(chapters, name))
if (strange.length > 0)
  throw new Error(`There is no chapter ${strange.join(', ')}: ${Object.keys(chapters).join(', ')}`)
demandQuiet(values.force === true)
const { length, 0: core } = cpus()
console.log(
  `Node ${process.version}, ${type()} ${release()}, ${length} x ${core?.model}, load ${load().toFixed(2)} a core`,
)
for (const [name, run] of Object.entries(chapters)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  for await (const line of await run()) console.log(`${name}: ${line}`)
}
