import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'

/** In ms, for one file. */
const patience = 60_000

/** What a program prints, from a folder where it may leave what it likes; null where it fails or prints nothing. */
export const printed = (program: string, given: readonly string[], wait = patience): Promise<string | null> =>
  new Promise((settle) => {
    const options = { cwd: tmpdir(), timeout: wait, killSignal: 'SIGKILL', maxBuffer: 256 * 1024 * 1024 } as const
    execFile(program, given, options, (error, text) => settle(error !== null || text.trim() === '' ? null : text))
  })
