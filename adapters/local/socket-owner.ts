import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'

/** True when the user of this process also owns the other end of a connection. */
export type SameUser = (socket: Socket) => Promise<boolean>

const tables = ['/proc/net/tcp', '/proc/net/tcp6']
/** The kernel names this user when it cannot name the owner. */
const unnamed = 65_534

/** Null when the system does not name the owner of a connection. */
export const sameUser = async (own: number | undefined = process.geteuid?.()): Promise<SameUser | null> => {
  if (process.platform !== 'linux' || own === undefined || own === unnamed) return null
  if (!/\buid\b.*\binode\b/.test(await readFile(tables[0]!, 'utf8').catch(() => ''))) return null
  return async (socket) => {
    const ends = endsOf(socket)
    // A machine without IPv6 lacks this table.
    const texts = await Promise.all(tables.map((table) => readFile(table, 'utf8').catch(() => '')))
    const owners = texts.flatMap((text) => ownersIn(text, ends))
    return owners.length > 0 && owners.every((owner) => owner === own)
  }
}

/** The connection from the view of the other end, in each form that the kernel writes. */
const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): ReadonlySet<string> => {
  const ours = written(localAddress, localPort)
  return new Set(written(remoteAddress, remotePort).map((theirs, form) => `${theirs} ${ours[form]}`))
}

/** The owners of the table's rows that have these two ends. */
export const ownersIn = (table: string, ends: ReadonlySet<string>): readonly number[] =>
  table.split('\n').flatMap((row) => {
    const [, local, remote, , , , , uid, , inode] = row.trim().split(/\s+/)
    // A closed socket has no inode, and older kernels name root as its owner.
    return ends.has(`${local} ${remote}`) && inode !== '0' ? [Number(uid)] : []
  })

/**
 * The kernel's forms of a local address: an IPv4 address has a form for IPv6 sockets, too. Empty for IPv6 addresses of
 * other machines.
 */
const written = (address: string | undefined, port: number | undefined): readonly string[] => {
  const end = `:${port?.toString(16).toUpperCase().padStart(4, '0')}`
  if (address === '::1') return [words([...Array<number>(15).fill(0), 1]) + end]
  const four = address?.split('.').map(Number) ?? []
  if (four.length !== 4) return []
  return [four, [...Array<number>(10).fill(0), 255, 255, ...four]].map((bytes) => words(bytes) + end)
}

/** The kernel writes words of four bytes in the machine's byte order. */
const words = (bytes: readonly number[]): string => {
  const buffer = Buffer.from(bytes)
  if (endianness() === 'LE') buffer.swap32()
  return buffer.toString('hex').toUpperCase()
}
