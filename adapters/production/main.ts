#!/usr/bin/env node
import cluster from 'node:cluster'
import { parseArgs } from 'node:util'

const usage = `sealgate [serve] [--surfaces a,b] [--workers N]    serves the gateway
sealgate keys create|list|revoke    makes, shows and revokes keys
sealgate enclave                    the confidential process alone, as SEALGATE_CONFIG says
sealgate seal --base-url U           a local proxy that seals what unmodified programs send
sealgate files put|get|ls|rm         a client's sealed files
sealgate kek new|backup|restore|rotate    a client's own keys
sealgate sweep [--grace MS]          removes stored bytes without a record, and files whose time is over`

/** Each command is loaded only when it is called: a serving process holds no code that it does not need. */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  async serve(args) {
    const options = { surfaces: { type: 'string' }, workers: { type: 'string', default: '1' } } as const
    const { values } = parseArgs({ args: [...args], options })
    const surfaces = values.surfaces?.split(',') ?? null
    const count = Number(values.workers)
    if (!(Number.isInteger(count) && count > 0)) throw new Error('--workers takes a whole number above 0')
    if (cluster.isWorker) {
      const [{ serve }, { joined }] = await Promise.all([import('./serve.ts'), import('./workers/team.ts')])
      await serve(process.env, surfaces, await joined(process))
    } else if (count > 1) {
      const { lead } = await import('./workers/lead.ts')
      await lead(process.env, count)
    } else {
      const { serve } = await import('./serve.ts')
      await serve(process.env, surfaces)
    }
    // A store that is silent may still hold a line.
    process.exit()
  },
  async keys(args) {
    const { keys } = await import('./keys.ts')
    await keys(args, process.env)
  },
  async enclave() {
    const { enclave } = await import('./inside.ts')
    await enclave(process.env)
  },
  async seal(args) {
    const { seal } = await import('./seal.ts')
    await seal(args, process.env)
  },
  async files(args) {
    const { files } = await import('./files.ts')
    await files(args, process.env)
  },
  async kek(args) {
    const { kek } = await import('./kek.ts')
    await kek(args, process.env)
  },
  async sweep(args) {
    const { sweep } = await import('./sweep.ts')
    await sweep(args, process.env)
  },
  async help() {
    process.stdout.write(`${usage}\n`)
  },
}

const [name = 'serve', ...args] = process.argv.slice(2)
const command = name.startsWith('--') ? (name === '--help' ? commands['help'] : commands['serve']) : commands[name]

try {
  if (command === undefined) throw new Error(usage)
  await command(name.startsWith('--') ? process.argv.slice(2) : args)
} catch (error) {
  process.stderr.write(`sealgate: ${error instanceof Error ? error.message : String(error)}\n`)
  // Whatever it has begun by then.
  process.exit(1)
}
