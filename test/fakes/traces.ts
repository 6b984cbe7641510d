import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Something to search, by what it is called. */
export type Places = Map<string, Buffer>

const percent = (bytes: Buffer): string => bytes.toString('hex').replace(/../g, '%$&')

/** The part of a text's base64 that does not depend on what stands before and behind it. */
const within = (text: string, offset: number): string => {
  const all = Buffer.from('\0'.repeat(offset) + text)
  const whole = all.subarray(0, all.length - (all.length % 3)).toString('base64')
  return whole.slice(offset === 0 ? 0 : offset + 1)
}

/** Every form in which a text of plain letters may lie in bytes; `loose` ones are told apart by no case. */
export const formsOf = (
  text: string,
): readonly { readonly name: string; readonly bytes: string; readonly loose: boolean }[] => [
  { name: 'plain', bytes: text, loose: true },
  { name: 'hex', bytes: Buffer.from(text).toString('hex'), loose: true },
  { name: 'URL-encoded', bytes: percent(Buffer.from(text)), loose: true },
  { name: 'UTF-16', bytes: Buffer.from(text, 'utf16le').toString('latin1'), loose: true },
  ...[0, 1, 2].map((offset) => ({ name: `base64 at ${offset}`, bytes: within(text, offset), loose: false })),
]

const isPacked = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b

/** Each as `mark in place as form`. */
export const traces = (marks: Iterable<string>, places: Places): readonly string[] => {
  const found: string[] = []
  const texts = [...places].map(([place, bytes]) => {
    const text = (isPacked(bytes) ? gunzipSync(bytes) : bytes).toString('latin1')
    return { place: isPacked(bytes) ? `${place} unpacked` : place, text, lower: text.toLowerCase() }
  })
  for (const mark of marks) {
    for (const { name, bytes, loose } of formsOf(mark)) {
      const wanted = loose ? bytes.toLowerCase() : bytes
      for (const { place, text, lower } of texts) {
        if ((loose ? lower : text).includes(wanted)) found.push(`${mark} in ${place} as ${name}`)
      }
    }
  }
  return found
}

/** All files below a folder, and their names. */
export const filesIn = async (folder: string): Promise<Places> => {
  const names = await readdir(folder, { recursive: true })
  const places: Places = new Map([['file names', Buffer.from(names.join('\n'))]])
  for (const name of names) {
    const path = join(folder, name)
    if ((await stat(path)).isFile()) places.set(name, await readFile(path))
  }
  return places
}
