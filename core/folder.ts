import { open } from 'node:fs/promises'

/** Makes what happened in a folder (a new name, one gone) outlive the power. */
export const flushFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
