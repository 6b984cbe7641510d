import { existsSync, mkdirSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Makes what happened in a folder (a new name, one gone) outlive the power. */
export const flushFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Makes a folder, and those above it, for their owner alone. Throws the system's error. Node's own recursion never ends
 * where the system takes no folders, such as in /proc.
 */
export const makeFolder = (folder: string): void => {
  const missing: string[] = []
  for (let at = resolve(folder); !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.push(at)
  for (const at of missing.reverse()) {
    try {
      mkdirSync(at, 0o700)
    } catch (fault) {
      // Another process may have made it meanwhile.
      if ((fault as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(at).isDirectory()) throw fault
    }
  }
}
