import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'

export interface Tries {
  readonly port: number
  readonly file: string
}

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
  process: process.pid,
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
