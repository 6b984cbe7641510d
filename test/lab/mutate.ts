import { type SpawnOptions, spawn } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { transpileModule } from 'typescript-api'
import { chance } from './bench/retrieval/chance.ts'
import { moduleForm } from '../compiled.ts'
import { endGroup } from '../end-group.ts'
import { planned } from '../suite/plan.ts'
import { type Mutation, mutations } from './mutations.ts'
import { type Verdict, markOf, readPlayed, writePlayed } from './mutations/played.ts'

/** `npm run mutate`: each mutation breaks one promise in a copy of the built code, and its test has to fail there. */
const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    /** Mutations whose file or test has this in its path. */
    only: { type: 'string', default: '' },
    /** Mutations without a verdict. */
    new: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
  },
})

const { resting: long } = await planned('short')
/** Ms in which a test ends, broken or not. */
const patienceOf = (test: string): number =>
  long.includes(test.replace(/^test\/|\.test\.ts$/g, '')) ? 300_000 : 120_000

const print = (line: string) => void process.stdout.write(`${line}\n`)

/** A copy of the built code beside links to all that tests read. */
const copied = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-mutant-'))
  // Parsers run as other users, who read the code too.
  await chmod(folder, 0o755)
  const isCode = (path: string) => !/\.(d\.ts|map|tsbuildinfo)$/.test(path)
  await cp('dist', join(folder, 'dist'), { recursive: true, filter: isCode })
  for (const name of await readdir('.'))
    if (!['dist', '.git', '.tap'].includes(name)) await symlink(await realpath(name), join(folder, name))
  await mkdir(join(folder, '.tap'))
  return folder
}

const built = (file: string): string => join('dist', file.replace(/\.ts$/, '.js'))

/** The exit code of a test, which ends at its first failure; null when its time was over. */
const run = (folder: string, test: string): Promise<number | null> =>
  new Promise((done, fail) => {
    const patience = patienceOf(test)
    // The runner's own limit of 30 seconds would count a busy machine as a broken test.
    const env = { ...process.env, TAP_TIMEOUT: String(patience / 1000), TAP_BAIL: '1' }
    const options: SpawnOptions = { cwd: folder, stdio: 'ignore', env, detached: true }
    const child = spawn(process.execPath, [built(test)], options)
    const late = setTimeout(() => endGroup(child.pid!), patience)
    child.on('error', fail)
    child.on('exit', (code) => {
      clearTimeout(late)
      endGroup(child.pid!)
      done(code)
    })
  })

/** The changed file as the built code has it; null when it is no TypeScript. */
const broken = async ({ file, from, to }: Mutation): Promise<string | null> => {
  const changed = (await readFile(file, 'utf8')).replace(from, () => to)
  if (file.endsWith('.json')) return changed
  const { outputText, diagnostics } = transpileModule(changed, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: moduleForm,
  })
  if (diagnostics?.length) return null
  return outputText
}

const tried = async (folder: string, mutation: Mutation): Promise<Verdict> => {
  const place = join(folder, built(mutation.file))
  const [whole, changed] = [await readFile(place), await broken(mutation)]
  if (changed === null) return 'NO CODE'
  await writeFile(place, changed)
  const code = await run(folder, mutation.test)
  await writeFile(place, whole)
  if (code === null) return 'killed by time'
  return code === 0 ? 'ALIVE' : 'killed'
}

const room = (file: string): string => file.split('/').slice(0, 2).join('/')

const played = new Map(await readPlayed())
/** A sample leaves out the rows of long tests, with browsers and many processes. */
const left = values.sample === undefined ? [] : long.map((file) => `test/${file}.test.ts`)
const wanted = mutations
  .filter(({ test }) => !left.includes(test))
  .filter(({ file, test }) => file.includes(values.only) || test.includes(values.only))
  .filter((mutation) => !values.new || !played.get(markOf(mutation))?.startsWith('killed'))
const mixed = chance(Number(values.seed)).shuffled(wanted.filter(({ equivalent }) => equivalent === undefined))
const chosen = values.sample === undefined ? mixed : mixed.slice(0, Number(values.sample))
print(`${chosen.length} of ${mutations.length} mutations, seed ${values.seed}`)

const lanes = await Promise.all(Array.from({ length: Number(values.jobs) }, copied))
/** Does the work for each item, in as many lanes as there are copies. */
const inLanes = async <T>(items: readonly T[], work: (folder: string, item: T) => Promise<void>): Promise<void> => {
  const queue = [...items]
  await Promise.all(
    lanes.map(async (folder) => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(folder, next)
    }),
  )
}

const unfit = new Set<string>()
await inLanes([...new Set(chosen.map(({ test }) => test))], async (folder, test) => {
  if ((await run(folder, test)) === 0) return
  unfit.add(test)
  print(`UNFIT ${test} fails without a mutation`)
})
const sums = new Map<string, { killed: number; alive: number }>()
await inLanes(chosen, async (folder, mutation) => {
  const began = Date.now()
  const verdict = unfit.has(mutation.test) ? 'UNFIT' : await tried(folder, mutation)
  const sum = sums.get(room(mutation.file)) ?? { killed: 0, alive: 0 }
  sum[verdict.startsWith('killed') ? 'killed' : 'alive']++
  sums.set(room(mutation.file), sum)
  played.set(markOf(mutation), verdict)
  if (values.sample === undefined) await writePlayed(mutations, played)
  print(`${verdict} in ${Date.now() - began} ms: ${mutation.file}: ${mutation.breaks}`)
})
await Promise.all(lanes.map((folder) => rm(folder, { recursive: true, force: true })))

for (const [name, { killed, alive }] of [...sums].sort()) print(`${name.padEnd(24)} ${killed} killed, ${alive} alive`)
const alive = [...sums.values()].reduce((sum, value) => sum + value.alive, 0)
print(`${chosen.length - alive} killed, ${alive} alive`)
process.exit(alive === 0 ? 0 : 1)
