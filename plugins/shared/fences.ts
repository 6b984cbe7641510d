import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** What keeps a child process from the rest of the machine. */
export interface ProcessFences {
  /** Whether each process runs as a user of its own, who owns nothing. */
  readonly strangers: boolean
  /** Whether it has no network. */
  readonly offline: boolean
  /** The words before a program's own; `user` is one of `freshUser`. A program that `network` names keeps the network. */
  words(user: number | null, network?: boolean): readonly string[]
}

/** Users that no system gives to people: services without an account take turns at them. */
const strangers = { first: 61_184, count: 4_336 }
let taken = randomInt(strangers.count)

/** Programs that put up fences come from these folders alone, whatever `PATH` says. */
const folders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']

/** Ms for a program that only says whether it can. */
const probeMs = 5_000

const reaches = 'for it; do test -r "$it" && test -x "$it" || exit 1; done'

/** Each set of paths is probed once in a process: a probe starts several programs and waits for them. */
const known = new Map<string, ProcessFences>()

/** The fences of this machine for a program that reads at these paths: as many as the system lets this process put up. */
export const fencesFor = (...paths: readonly string[]): ProcessFences => {
  const name = paths.join('\0')
  const found = known.get(name) ?? probed(paths)
  known.set(name, found)
  return found
}

/** A user that no other process has had for a long time; null where a program can't have one of its own. */
export const freshUser = ({ strangers: own }: ProcessFences): number | null =>
  own ? strangers.first + (taken = (taken + 1) % strangers.count) : null

const probed = (paths: readonly string[]): ProcessFences => {
  if (process.platform !== 'linux') return { strangers: false, offline: false, words: () => [] }
  const works = (words: readonly string[]): boolean => {
    const [program = '/bin/sh', ...given] = [...words, '/bin/sh', '-c', reaches, 'sh', ...paths]
    return spawnSync(program, given, { stdio: 'ignore', env: {}, timeout: probeMs }).status === 0
  }
  const first = (all: readonly (readonly string[])[]): readonly string[] => all.find(works) ?? []
  const isRoot = process.getuid?.() === 0
  const unshare = programAt('unshare')
  const setpriv = programAt('setpriv')
  const offline =
    unshare === null
      ? []
      : [
          [unshare, '--net'],
          [unshare, '--user', '--map-current-user', '--net'],
        ]
  const walls = first(offline.slice(isRoot ? 0 : 1))
  const plain = setpriv === null ? [] : [setpriv, '--no-new-privs', '--pdeathsig', 'KILL']
  const asUser = (user: number) => [...plain, '--reuid', `${user}`, '--regid', `${user}`, ...powerless]
  const own = isRoot && setpriv !== null && works([...walls, ...asUser(strangers.first)])
  // The user comes last, since a stranger may not leave the network.
  const ending = own || works([...walls, ...plain]) ? plain : []
  return {
    strangers: own,
    offline: walls.length > 0,
    words: (user, network = false) => [...(network ? [] : walls), ...(user === null ? ending : asUser(user))],
  }
}

const powerless = ['--clear-groups', '--inh-caps=-all', '--bounding-set=-all']

const programAt = (name: string): string | null =>
  folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
