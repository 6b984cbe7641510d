import { open, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Where the first key stands when no terminal could show it. */
const name = 'first-key'

/** What a start has done with the key that it made. */
export type ShownKey = { readonly credential: string } | { readonly file: string }

/** Keeps the key in a file for its owner alone; the file is whole, or it is not there. Throws the system's error. */
const kept = async (credential: string, folder: string): Promise<string> => {
  const file = resolve(join(folder, name))
  const draft = `${file}.${process.pid}`
  try {
    const handle = await open(draft, 'w', 0o600)
    try {
      await handle.chmod(0o600)
      await handle.writeFile(`${credential}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  return file
}

/** Resolves when standard output has taken the text; throws the system's error. */
export const print = (text: string): Promise<void> =>
  new Promise((done, failed) => {
    process.stdout.once('error', failed)
    process.stdout.write(text, (fault) => {
      if (fault) return
      process.stdout.off('error', failed)
      done()
    })
  })

/** Nobody could come in with a key that nobody has seen, so a failure ends the start. */
export const orEnd = async <T>(showing: Promise<T>): Promise<T> => {
  try {
    return await showing
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Error(`a key was made and can't be shown (${code}); sealgate keys create makes another`, { cause })
  }
}

/** Without a terminal, output may be kept by anybody: only the path of the file is printed. */
export const keepKey = async (credential: string, folder: string): Promise<ShownKey> => {
  const file = await kept(credential, folder)
  await print(`sealgate made a key; it stands in ${file}\n`)
  return { file }
}
