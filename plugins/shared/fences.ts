import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** What keeps a child process from the rest of the machine. */
export interface ProcessFences {
  /** Whether each process runs as a user of its own, who owns nothing. */
  readonly strangers: boolean
  /** Whether it has no network. */
  readonly offline: boolean
  /** Whether it sees no process but its own, and all that it started ends with it. */
  readonly alone: boolean
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
const known = new Map<string, Promise<ProcessFences>>()

/** The fences of this machine for a program that reads at these paths: as many as the system lets this process put up. */
export const fencesFor = (...paths: readonly string[]): Promise<ProcessFences> => {
  const name = paths.join('\0')
  const found = known.get(name) ?? probed(paths)
  known.set(name, found)
  return found
}

/** A user that no other process has had for a long time; null where a program can't have one of its own. */
export const freshUser = ({ strangers: own }: ProcessFences): number | null =>
  own ? strangers.first + (taken = (taken + 1) % strangers.count) : null

/** Whether a program behind these words ends well. */
const ends = (program: readonly string[], words: readonly string[]): Promise<boolean> => {
  const [first = '', ...given] = [...words, ...program]
  const child = spawn(first, given, { stdio: 'ignore', env: {}, timeout: probeMs })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0))
  })
}

const probed = async (paths: readonly string[]): Promise<ProcessFences> => {
  if (process.platform !== 'linux') return { strangers: false, offline: false, alone: false, words: () => [] }
  const works = (words: readonly string[]): Promise<boolean> => ends(['/bin/sh', '-c', reaches, 'sh', ...paths], words)
  const first = async (all: readonly (readonly string[])[]): Promise<readonly string[]> => {
    for (const words of all) if (await works(words)) return words
    return []
  }
  const isRoot = process.getuid?.() === 0
  const setpriv = programAt('setpriv')
  const plain = setpriv === null ? [] : [setpriv, '--no-new-privs', '--pdeathsig', 'KILL']
  const ending = (await works(plain)) ? plain : []
  const asUser = (user: number) => [...plain, '--reuid', `${user}`, '--regid', `${user}`, ...powerless]
  // A room has a process of its own before the program: that one has to end with the gateway, too.
  const walls = await first(roomsOf(['--net'], isRoot).map((room) => [...ending, ...room]))
  const wallsOnline = await first(roomsOf([], isRoot).map((room) => [...ending, ...room]))
  const own = isRoot && setpriv !== null && (await works([...walls, ...asUser(strangers.first)]))
  return {
    strangers: own,
    offline: walls.includes('--net'),
    alone: walls.includes('--pid') && wallsOnline.includes('--pid'),
    // The user comes last, since a stranger may not leave the network.
    words: (user, network = false) => [...(network ? wallsOnline : walls), ...(user === null ? ending : asUser(user))],
  }
}

/** Processes of its own: the first one ends with the program before it, and all others with the first one. */
const alone = ['--pid', '--fork', '--kill-child']

/** The rooms that a program may get, the best first; `network` holds the option that takes its network away. */
const roomsOf = (network: readonly string[], isRoot: boolean): readonly (readonly string[])[] => {
  const unshare = programAt('unshare')
  if (unshare === null) return []
  const makers = [...(isRoot ? [[]] : []), ['--user', '--map-current-user']]
  const rooms = [[...alone, '--mount-proc'], alone, []].map((room) => [...network, ...room])
  return rooms.filter((room) => room.length > 0).flatMap((room) => makers.map((maker) => [unshare, ...maker, ...room]))
}

const powerless = ['--clear-groups', '--inh-caps=-all', '--bounding-set=-all']

const programAt = (name: string): string | null =>
  folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
