import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { getPriority } from 'node:os'

export interface Tries {
  readonly port: number
  readonly file: string
}

/** Each process has its own, since numbers of processes may be the same. */
const ownName = randomUUID()

/** Stands for a parser that a file has taken over: it tells what it can reach. */
export default async ({ port, file }: Tries): Promise<Readonly<Record<string, unknown>>> => ({
  network: await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.once('error', () => resolve(false))
  }),
  reads: reaches(() => readFileSync(file)),
  writes: reaches(() => writeFileSync(`${file}.new`, 'x')),
  starts: reaches(() => {
    const { error } = spawnSync('/bin/true')
    if (error) throw error
  }),
  user: process.getuid?.() ?? null,
  process: ownName,
  number: process.pid,
  priority: getPriority(),
  surroundings: Object.keys(process.env).filter((name) => name !== 'PWD'),
})

const reaches = (work: () => unknown): boolean => {
  try {
    work()
    return true
  } catch {
    return false
  }
}
