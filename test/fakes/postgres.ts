import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { comesUpIn, freePort } from './listening.ts'

/** A real PostgreSQL that trusts everybody on this machine. All but `url` and `close` throw when the server is not ours. */
export interface PostgresServer {
  readonly url: string
  /** Every process of it stays connected and says nothing more. */
  pause(): void
  resume(): void
  /** At once, as after a crash; what was committed stays. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Stops only what was started here. */
  close(): Promise<void>
}

const versions = '/usr/lib/postgresql'

/** Where the newest server's programs are: Debian keeps them off the path. */
export const programs = async (): Promise<string | null> => {
  const found = (await readdir(versions).catch(() => [])).sort((a, b) => Number(b) - Number(a))
  for (const folder of [...found.map((text) => join(versions, text, 'bin')), ...(process.env.PATH ?? '').split(':')]) {
    if ((await readdir(folder).catch(() => [] as string[])).includes('initdb')) return folder
  }
  return null
}

/** PostgreSQL refuses to run as root. */
const other = (): { readonly uid: number; readonly gid: number } | null => {
  if (process.getuid?.() !== 0) return null
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

const answers = async (url: string) => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}

/** The main process, then all that it made: each is a group of its own. */
const family = ({ pid }: ChildProcess): readonly number[] => [
  pid!,
  ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number),
]

/** A process may end of itself before it is signalled. */
const signal = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'ESRCH') throw fault
  }
}

const notOurs = (): never => {
  throw new Error('Not ours to steer')
}

/**
 * The server that PG_URL names, unless one to `steer` is asked for; else one started here, in the plainest locale, so
 * that nothing rests on a richer one; null, and why is printed, when that is not installed.
 */
export const startPostgres = async ({ steer = false } = {}): Promise<PostgresServer | null> => {
  const given = process.env.PG_URL
  if (given && !steer) {
    return { url: given, pause: notOurs, resume: notOurs, stop: notOurs, start: notOurs, close: async () => {} }
  }
  const bin = await programs()
  if (!bin) {
    console.error('# no PostgreSQL server: install postgresql')
    return null
  }
  const owner = other()
  const home = await mkdtemp(join(tmpdir(), 'postgres-'))
  if (owner) await chown(home, owner.uid, owner.gid)
  const data = join(home, 'data')
  const as = { ...owner, cwd: home }
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  const [code] = await once(spawn(join(bin, 'initdb'), init, { ...as, stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')
  if (code !== 0) {
    await rm(home, { recursive: true, force: true })
    throw new Error(`initdb ended with ${code}`)
  }
  // Not before the seconds of initdb, in which another process could take the port.
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  let child: ChildProcess | null = null
  let paused: readonly number[] = []
  const kill = () => child?.kill('SIGQUIT')
  process.once('exit', kill)

  const resume = () => {
    for (const pid of paused) signal(pid, 'SIGCONT')
    paused = []
  }
  const start = async () => {
    const args = ['-D', data, '-p', `${port}`, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
    const quick = ['fsync=off', 'full_page_writes=off', 'max_connections=200'].flatMap((text) => ['-c', text])
    const started = spawn(join(bin, 'postgres'), [...args, ...quick], { ...as, stdio: ['ignore', 'ignore', 'pipe'] })
    child = started
    let output = ''
    started.stderr.on('data', (chunk) => (output = (output + chunk).slice(-2000)))
    // By time: beside heavy load the first answer may take many seconds.
    for (const until = performance.now() + comesUpIn; !(await answers(url));) {
      if (performance.now() > until || started.exitCode !== null) throw new Error(`postgres did not come up: ${output}`)
      await sleep(30)
    }
  }
  const stop = async () => {
    if (!child) return
    const stopped = child
    child = null
    resume()
    if (stopped.exitCode !== null) return
    const gone = once(stopped, 'exit')
    stopped.kill('SIGQUIT')
    await gone
  }
  const close = async () => {
    process.off('exit', kill)
    await stop()
    await rm(home, { recursive: true, force: true })
  }

  try {
    await start()
  } catch (fault) {
    await close()
    throw fault
  }
  return {
    url,
    pause() {
      if (!child) return
      child.kill('SIGSTOP')
      paused = family(child)
      for (const pid of paused) signal(pid, 'SIGSTOP')
    },
    resume,
    stop,
    start,
    close,
  }
}
