import { type ChildProcess, execFile, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { isWhole } from '../whole.ts'
import type { Asked, Said } from './command-process.ts'
import { program } from './served.ts'

/** Runs a command with nothing in its environment but this. */
export type Command = (
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd?: string,
) => Promise<Said>

/** A command in a process of its own. */
export const ownProcess: Command = (args, env, cwd = process.cwd()) =>
  new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: { PATH: process.env['PATH'], ...env }, cwd },
      (_, stdout, stderr) => {
        if (child.exitCode === null) reject(new Error(`${args.join(' ')} ended with ${child.signalCode}: ${stderr}`))
        else resolve({ code: child.exitCode, stdout, stderr })
      },
    )
    child.stdin?.end()
  })

const file = fileURLToPath(new URL('./command-process.js', import.meta.url))

/** One process for all commands, which begins with the first of them and ends with the test. */
const oneProcess = (t: Test): Command => {
  const waiting = new Map<number, { readonly resolve: (line: Said) => void; readonly reject: (why: Error) => void }>()
  let child: ChildProcess | null = null
  let ids = 0
  const begun = (): ChildProcess => {
    // The tests may run on a terminal; a command sees none.
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const
    const child = fork(file, [], { env: { PATH: process.env['PATH'] }, execArgv: [], stdio: [...stdio] })
    let complaint = ''
    child.stderr?.on('data', (part: Buffer) => (complaint += part))
    child.on('message', ({ id, ...report }: Said & { readonly id: number }) => {
      waiting.get(id)?.resolve(report)
      waiting.delete(id)
    })
    child.on('exit', (code, signal) => {
      for (const { reject } of waiting.values())
        reject(new Error(`the commands ended with ${signal ?? code}: ${complaint}`))
    })
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }
  return (args, env, cwd = process.cwd()) =>
    new Promise((resolve, reject) => {
      child ??= begun()
      const request: Asked = { id: ids++, args, env: { PATH: process.env['PATH'], ...env }, cwd }
      waiting.set(request.id, { resolve, reject })
      child.send(request)
    })
}

/**
 * Commands of the program. By day one process runs them one after another, so that the start of Node and the loading of
 * our code are paid once; the night starts a process for each.
 */
export const commandRunner = (t: Test): Command => (isWhole ? ownProcess : oneProcess(t))
