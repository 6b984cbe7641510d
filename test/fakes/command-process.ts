import { program } from './served.ts'

/** One command, as a shell would start it. */
export interface Asked {
  readonly id: number
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** What a command left behind. */
export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs each command that comes over the channel as its program does, after the one before. */
const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
let exitCode: number | null = null

type Written = (fault?: Error) => void
for (const name of ['stdout', 'stderr'] as const)
  Object.assign(process[name], {
    write: (part: string | Uint8Array, encoding?: BufferEncoding | Written, written?: Written): boolean => {
      parts[name].push(typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))
      const done = typeof encoding === 'function' ? encoding : written
      if (done !== undefined) process.nextTick(done)
      return true
    },
  })
// Commands end their process in their last statement: here the next command follows it.
Object.assign(process, { exit: (code = process.exitCode ?? 0) => void (exitCode ??= Number(code)) })

const run = async ({ id, args, env, cwd }: Asked): Promise<Said> => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value
  process.chdir(cwd)
  process.argv = [process.execPath, program, ...args]
  // The file of the program runs anew under each address; what it imports is there already.
  await import(`file://${program}?${id}`)
  const report = {
    code: exitCode ?? Number(process.exitCode ?? 0),
    stdout: Buffer.concat(parts.stdout.splice(0)).toString(),
    stderr: Buffer.concat(parts.stderr.splice(0)).toString(),
  }
  exitCode = null
  process.exitCode = undefined
  return report
}

let last: Promise<void> = Promise.resolve()
process.on('message', (request: Asked) => {
  last = last.then(async () => void process.send?.({ id: request.id, ...(await run(request)) }))
})
