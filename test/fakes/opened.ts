import type { ChildProcess } from 'node:child_process'
import { readdir, readlink } from 'node:fs/promises'

/** What a process has open, as the system names it; null where the system does not tell. */
export const openedBy = async ({ pid }: ChildProcess): Promise<readonly string[] | null> => {
  const folder = `/proc/${pid}/fd`
  const files = await readdir(folder).catch(() => null)
  return files && Promise.all(files.map((file) => readlink(`${folder}/${file}`).catch(() => '')))
}

/** Each process of a parser has two: for its job, and for what it answers. One of them waits for the next job. */
const socketsOfParser = 2

/** Sockets of a process beside those to its parsers, which are its only children. */
export const socketsBeside = async (child: ChildProcess, parsers: readonly number[]): Promise<number> =>
  socketsIn(await openedBy(child)) - socketsOfParser * parsers.length

export const socketsIn = (opened: readonly string[] | null): number =>
  (opened ?? []).filter((text) => text.startsWith('socket:')).length
