#!/usr/bin/env node
import cluster from 'node:cluster'
import module from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeFolder } from '../../plugins/storage/shared/fsync.ts'
import { helpOverview, commandUsages } from './commands/help.ts'
import { didYouMean } from './config/did-you-mean.ts'
import { placeIn } from './config/variables.ts'
import { version } from './config/version.ts'
import { loadNearModules } from './near-modules.ts'
import { startPlainly } from './start-plainly.ts'
import { holdHangUps } from './workers/signals.ts'

type Command = (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<void> | void

/** Each command is loaded only when it is called: a serving process holds no code that it does not need. */
const loaded: Readonly<Record<string, () => Promise<Command>>> = {
  keys: async () => (await import('./commands/keys.ts')).keys,
  seal: async () => (await import('../local/seal.ts')).seal,
  console: async () => (await import('../local/console.ts')).ownConsole,
  mcp: async () => (await import('../local/mcp.ts')).mcp,
  verify: async () => (await import('../local/verify.ts')).verify,
  releases: async () => (await import('./commands/releases.ts')).releases,
  release: async () => (await import('./commands/release.ts')).release,
  receipt: async () => (await import('../local/receipt.ts')).receipt,
  files: async () => (await import('../local/files.ts')).files,
  kek: async () => (await import('../local/kek.ts')).kek,
  calibrate: async () => (await import('./commands/calibrate.ts')).calibrate,
  prices: async () => (await import('./commands/prices.ts')).prices,
  sweep: async () => (await import('./commands/sweep.ts')).sweep,
  models: async () => (await import('./commands/models.ts')).models,
  usage: async () => (await import('./commands/usage.ts')).usage,
  audit: async () => (await import('./commands/audit.ts')).audit,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  add: async () => (await import('./commands/add.ts')).add,
}

/** Commands that do more than their module. */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  async serve(args) {
    const onHangUp = holdHangUps()
    const started = startPlainly(process)
    const { values } = parseArgs({ args: [...args], options: serveOptions })
    if (values.port !== undefined) process.env['PORT'] = portOf(values.port)
    keepCompiled(process.env)
    loadNearModules()
    const surfaces = values.surfaces?.split(',') ?? null
    const count = Number(values.workers)
    if (!(Number.isInteger(count) && count > 0)) throw new Error('--workers takes a whole number above 0')
    if (cluster.isWorker) {
      const [{ serve }, { joinLeader: joined }] = await Promise.all([
        import('./commands/serve.ts'),
        import('./workers/worker.ts'),
      ])
      await serve(process.env, surfaces, started, onHangUp, await joined(process))
    } else if (count > 1) {
      const { leadWorkers: lead } = await import('./workers/leader.ts')
      started()
      await lead(process.env, count, onHangUp)
    } else {
      const { serve } = await import('./commands/serve.ts')
      await serve(process.env, surfaces, started, onHangUp)
    }
    // A store that is silent may still hold a line.
    process.exit()
  },
  async enclave() {
    // Before anything else is loaded that a variable or an option could have changed.
    const { hardenStart: harden } = await import('./enclave/harden.ts')
    const start = harden(process)
    const { enclave } = await import('./enclave/enclave-main.ts')
    await enclave(process.env, start)
  },
  async check(args) {
    const { check } = await import('./commands/check.ts')
    await check(args, process.env)
    // A backend that is silent may still hold a line.
    process.exit()
  },
  async help([name = '']) {
    print(usageOf(name) ?? helpOverview)
  },
}

/** What Node has compiled is kept beside the stores, where nobody else writes; an older Node keeps nothing. */
const keepCompiled = (env: NodeJS.ProcessEnv): void => {
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown }
  const folder = join(env['SEALGATE_DATA'] || './data', 'compiled')
  try {
    makeFolder(folder)
  } catch {
    // The configuration meets the same folder and names the fault.
    return
  }
  enableCompileCache?.(folder)
}

/** Port 0 lets the system choose a free port. */
const portOf = (text: string): string => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text
  throw new Error('--port takes a number from 0 to 65535')
}

/** An unknown option throws, so that a mistyped one never starts a gateway without it. */
const serveOptions = {
  surfaces: { type: 'string' },
  workers: { type: 'string', default: '1' },
  port: { type: 'string' },
} as const

const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** Null for a word that is no command; its help is the overview. */
const usageOf = (name: string): string | null =>
  Object.hasOwn(commandUsages, name) ? commandUsages[name as keyof typeof commandUsages] : null

const isHelp = (argument: string): boolean => argument === '--help' || argument === '-h'

/** An option in the first place belongs to `serve`, which needs no name. */
const run = async (words: readonly string[]): Promise<void> => {
  const [first = 'serve'] = words
  if (first === '--version' || first === '-v') return print(await version())
  if (isHelp(first)) return print(helpOverview)
  const [name, args] = first.startsWith('-') ? ['serve', words] : [first, words.slice(1)]
  const known = { ...loaded, ...commands }
  if (!Object.hasOwn(known, name))
    throw new Error(`there is no command ${name}${didYouMean(name, Object.keys(known))}; sealgate --help names them`)
  // Behind `--` stands another program's.
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  if (own.some(isHelp)) return print(usageOf(name) ?? helpOverview)
  if (Object.hasOwn(commands, name)) await commands[name]?.(args)
  else await (await loaded[name]?.())?.(args, process.env)
}

/** Files and folders, which are read in many places and by the processes that this one starts. */
const settlePlaces = (env: NodeJS.ProcessEnv): void => {
  for (const name of ['SEALGATE_CONFIG', 'SEALGATE_DATA', 'SEALGATE_KEYS'])
    if (env[name] !== undefined) env[name] = placeIn(env, name)
}

/** A gateway goes on when its screen can't be written; any other command ends, since its answer is lost. */
const goesOn = [undefined, 'serve'].includes(process.argv[2]) || process.argv[2]?.startsWith('-') === true

// A reader such as head closes the pipe when it has read enough; to a gateway, it is a collector of logs that ended.
for (const output of [process.stdout, process.stderr])
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (goesOn) return
    if (error.code === 'EPIPE') process.exit(0)
    if (output === process.stdout)
      process.stderr.write(`sealgate: standard output can't be written: ${error.code ?? error.message}\n`)
    process.exit(1)
  })

try {
  settlePlaces(process.env)
  await run(process.argv.slice(2))
} catch (error) {
  const { errorText: complaint } = await import('../local/error-text.ts')
  process.stderr.write(`sealgate: ${complaint(error)}\n`)
  // Whatever it has begun by then.
  process.exit(1)
}
