import type { OpenFile } from '../ports/tool.ts'

/** A stretch of a file's text, and where it stands. */
export interface Section {
  readonly text: string
  readonly heading: string | null
  readonly page: number | null
}

/** What there is to find in a file, whatever it is. */
export const sectionsOf = async (file: OpenFile, signal: AbortSignal): Promise<readonly Section[]> => {
  signal.throwIfAborted()
  return [{ text: new TextDecoder().decode(file.bytes), heading: null, page: null }]
}
