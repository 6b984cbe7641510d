import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'

const run = promisify(execFile)

/** A folder with these packages of npm, which leaves with the test. */
export const installed = async (t: Test, ...packages: readonly string[]): Promise<string> => {
  const place = await mkdtemp(join(tmpdir(), 'sealgate-program-'))
  t.teardown(() => rm(place, { recursive: true, force: true }))
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', place, ...packages], { maxBuffer: 1 << 26 })
  return place
}

/** All that a program says until it ends, by itself or after 90 seconds. */
export const endedProgram = (
  file: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
    const late = setTimeout(() => child.kill('SIGKILL'), 90_000)
    child.once('error', reject)
    child.once('exit', () => {
      clearTimeout(late)
      resolve(output)
    })
  })
