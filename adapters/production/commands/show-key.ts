import { open, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** The file of the first key, when no terminal could show it. */
const name = 'first-key'

/** A start either printed its new key, with a link to the console where it can give one, or kept the key in a file. */
export type ShownKey = { readonly credential: string; readonly link: string | null } | { readonly file: string }

/** Writes the key to a file that only its owner can read, whole or not at all. Throws the system's error. */
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

/** Resolves when standard output has taken the text. Throws the system's error. */
export const printWhole = (text: string): Promise<void> =>
  new Promise((done, failed) => {
    process.stdout.once('error', failed)
    process.stdout.write(text, (fault) => {
      if (fault) return
      process.stdout.off('error', failed)
      done()
    })
  })

/** An unseen key is useless, so a failure ends the start. */
export const orEndStart = async <T>(showing: Promise<T>): Promise<T> => {
  try {
    return await showing
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Error(`a key was made and can't be shown (${code}); sealgate keys create makes another`, { cause })
  }
}

/** Without a terminal, the output may be recorded: only the path of the key's file is printed. */
export const keepKey = async (credential: string, folder: string): Promise<ShownKey> => {
  const file = await kept(credential, folder)
  await printWhole(`sealgate made a key; it stands in ${file}\n`)
  return { file }
}
