import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { intervalOf } from './interval.ts'
import type { Used } from './ready-probe.ts'

const rounds = 10
/** What a quiet machine of ours may take, in ms and in bytes. */
const asked = { wall: process.versions.node.startsWith('20.') ? 600 : 500, resident: 90e6 }

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const probe = at('./ready-probe.js')

const started = async (program: string, args: readonly string[], env: Readonly<Record<string, string>>) => {
  const child = fork(program, [...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    execArgv: ['--import', new URL('./ready-probe.js', import.meta.url).href],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  try {
    const none = ended.then(() => Promise.reject(new Error(`${program} ended before it was ready`)))
    const [used] = (await Promise.race([once(child, 'message'), none])) as [Used]
    return used
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

const middle = (all: readonly Used[], of: (used: Used) => number): number => intervalOf(all.map(of)).middle

/** The start of the whole gateway, after a first one that made its key, against an empty program of Node. */
export async function* ready(): AsyncGenerator<string> {
  const data = await mkdtemp(join(tmpdir(), 'sealgate-ready-'))
  const env = { PORT: '0', SEALGATE_LOG: 'silent', SEALGATE_DATA: data }
  const gateway = () => started(at('../../../adapters/production/main.js'), [], env)
  const bare = () => started(probe, ['bare'], {})
  try {
    await gateway()
    const all: { readonly ours: Used; readonly bare: Used }[] = []
    while (all.length < rounds) all.push({ ours: await gateway(), bare: await bare() })
    const [ours, empty] = [all.map((pair) => pair.ours), all.map((pair) => pair.bare)]
    const ratio = intervalOf(all.map((pair) => pair.ours.cpu / pair.bare.cpu))
    const wall = middle(ours, (usage) => usage.wall)
    const resident = middle(ours, (usage) => usage.resident)
    const beyond = (value: number, most: number): string => (value > most ? ', BEYOND' : '')
    yield `${ratio.middle.toFixed(1)} times the CPU of an empty program (${ratio.low.toFixed(1)} to ${ratio.high.toFixed(1)}): ${middle(ours, (usage) => usage.cpu).toFixed(0)} ms against ${middle(empty, (usage) => usage.cpu).toFixed(0)} ms`
    yield `${wall.toFixed(0)} ms to ready (at most ${asked.wall}${beyond(wall, asked.wall)}), ${middle(empty, (usage) => usage.wall).toFixed(0)} ms for an empty program`
    yield `${(resident / 1e6).toFixed(0)} MB resident (at most ${asked.resident / 1e6}${beyond(resident, asked.resident)}), ${(middle(empty, (usage) => usage.resident) / 1e6).toFixed(0)} MB for an empty program`
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}
