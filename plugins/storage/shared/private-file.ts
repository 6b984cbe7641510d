import { chmodSync, closeSync, openSync, statSync } from 'node:fs'

/** Others than the owner may do nothing with it. */
const tighten = (file: string): void => {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found !== undefined && (found.mode & 0o077) !== 0) chmodSync(file, found.mode & 0o700)
}

/**
 * Makes a file when it isn't there, and keeps it and those of the same name and one of these endings for its owner alone.
 * Throws the system's error.
 */
export const privateFile = (file: string, endings: readonly string[]): string => {
  closeSync(openSync(file, 'a', 0o600))
  for (const each of [file, ...endings.map((ending) => file + ending)]) tighten(each)
  return file
}
