import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'

/** In ms, for one file. */
const patience = 60_000

/** The machine has no such program. */
export class NotInstalled extends Error {}

/**
 * What a program prints, from a folder where it may leave what it likes; null where it fails or prints nothing. Rejects with
 * NotInstalled.
 */
export const printed = (program: string, given: readonly string[], wait = patience): Promise<string | null> =>
  new Promise((settle, reject) => {
    const options = { cwd: tmpdir(), timeout: wait, killSignal: 'SIGKILL', maxBuffer: 256 * 1024 * 1024 } as const
    execFile(program, given, options, (error, text) => {
      if (error?.code === 'ENOENT') reject(new NotInstalled(`${program} is not installed`))
      else settle(error !== null || text.trim() === '' ? null : text)
    })
  })
