import { cpus, release, type } from 'node:os'
import { parseArgs } from 'node:util'
import { demandQuiet } from './quiet.ts'

/** Ratios of CPU against a baseline of the same run; absolute times are only told. `npm run bench [-- --force] [name …]` */
const chapters: Readonly<Record<string, () => Promise<Iterable<string> | AsyncIterable<string>>>> = {
  ready: async () => (await import('./ready.ts')).ready(),
  house: async () => (await import('./house.ts')).house(),
  chat: async () => (await import('./chat.ts')).chat({ parts: values.part, alone: values.alone }),
  bytes: async () => (await import('./bytes.ts')).bytes(),
  sealed: async () => (await import('./sealed.ts')).sealed(),
  mcp: async () => (await import('./mcp.ts')).mcp(),
  decisions: async () => (await import('./sealed-decisions.ts')).sealedDecisions(),
  logprobs: async () => (await import('./decision-calls.ts')).decisionCalls(),
  files: async () => (await import('./files.ts')).files(),
  workers: async () => (await import('./workers.ts')).workers(),
  kills: async () => (await import('./kills.ts')).kills(),
  calibration: async () => (await import('./decisions/calibration.ts')).calibration(),
  consoles: async () => (await import('./consoles.ts')).consoles(turns),
  outages: async () => (await import('./outages.ts')).outages(),
  journal: async () => (await import('./journal.ts')).journal(),
  usage: async () => (await import('./usage.ts')).usage(),
  evidence: async () => (await import('./evidence.ts')).evidence(),
}

const { values, positionals: wanted } = parseArgs({
  options: {
    force: { type: 'boolean' },
    /** Of the chapter `consoles`: the length of a turn, and the pairs of turns with and without consoles. */
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '6' },
    /** Of the chapter `chat`: some of its parts, and without gateways and proxies of npm. */
    part: { type: 'string', multiple: true, default: [] },
    alone: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const turns = { seconds: Number(values.seconds), rounds: Number(values.rounds) }
const strange = wanted.filter((name) => !Object.hasOwn(chapters, name))
if (strange.length > 0)
  throw new Error(`There is no chapter ${strange.join(', ')}: ${Object.keys(chapters).join(', ')}`)
const busy = await demandQuiet(values.force === true)
const { length, 0: core } = cpus()
console.log(
  `Node ${process.version}, ${type()} ${release()}, ${length} x ${core?.model}, ${Math.round(100 * busy)} % used by others`,
)
for (const [name, run] of Object.entries(chapters)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  for await (const line of await run()) console.log(`${name}: ${line}`)
}
