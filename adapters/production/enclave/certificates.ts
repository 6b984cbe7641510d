import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'

/** In ms: the pause between two looks at the files. */
const lookMs = 5_000

/** In PEM. Both sides prove themselves with certificates of this authority. */
interface Tls {
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

/** Certificates whose files may be renewed while the process runs. */
export interface Certificates {
  readonly first: Tls
  /** Gives each later state of the files in which they fit together. The result ends the watch. */
  watch(renewed: (tls: Tls) => void): () => void
}

export const certificatesIn = async (files: Readonly<Record<keyof Tls, string>>): Promise<Certificates> => {
  const read = async (): Promise<Tls> => {
    const [ca, cert, key] = await Promise.all([readFile(files.ca), readFile(files.cert), readFile(files.key)])
    return { ca, cert, key }
  }
  const uses = new Set<(tls: Tls) => void>()
  const renew = (tls: Tls): void => void (createSecureContext({ ...tls }) && uses.forEach((use) => use(tls)))
  // Half of a pair makes no context, and the other half calls again.
  const look = () => read().then(renew).catch(Boolean)
  return {
    first: await read(),
    watch(renewed) {
      if (uses.size === 0)
        for (const file of Object.values(files)) watchFile(file, { interval: lookMs, persistent: false }, look)
      uses.add(renewed)
      return () => {
        uses.delete(renewed)
        if (uses.size === 0) for (const file of Object.values(files)) unwatchFile(file, look)
      }
    },
  }
}
