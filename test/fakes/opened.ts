import type { ChildProcess } from 'node:child_process'
import { readdir, readlink } from 'node:fs/promises'

/** What a process has open, as the system names it; null where the system does not tell. */
export const openedBy = async ({ pid }: ChildProcess): Promise<readonly string[] | null> => {
  const folder = `/proc/${pid}/fd`
  const files = await readdir(folder).catch(() => null)
  return files && Promise.all(files.map((file) => readlink(`${folder}/${file}`).catch(() => '')))
}

export const socketsIn = (opened: readonly string[] | null): number =>
  (opened ?? []).filter((it) => it.startsWith('socket:')).length
