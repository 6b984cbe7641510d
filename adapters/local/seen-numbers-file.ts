import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Memory } from '../../plugins/sealed/evidence/policy.ts'
import type { SeenNumbers } from '../../plugins/sealed/evidence/finding.ts'

const isNumbers = (numbers: unknown): boolean =>
  typeof numbers === 'object' &&
  numbers !== null &&
  Object.values(numbers).every((value) => Number.isSafeInteger(value))
const isHexes = (texts: unknown): boolean =>
  typeof texts === 'object' &&
  texts !== null &&
  Object.values(texts).every((value) => /^[0-9a-f]+$/.test(String(value)))

/** Throws when the content is not a command's own: an unreadable memory must not count as empty. */
const parsed = (text: string): SeenNumbers => {
  const numbers = JSON.parse(text) as SeenNumbers
  const { evaluation = 0, lists = {}, releases = {} } = numbers
  if (!Number.isSafeInteger(evaluation) || !isHexes(lists) || !isNumbers(releases)) throw new Error('Misshapen')
  return numbers
}

/** The highest numbers seen of lists, evaluations and releases, in a file. The file is made when it is missing. */
export const seenFile = (at: string): Memory => ({
  async load() {
    const text = await readFile(at, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return '{}'
      throw new Error(`--memory can't be read (${cause.code})`, { cause })
    })
    try {
      return parsed(text)
    } catch (cause) {
      throw new Error('--memory is no file that this command wrote', { cause })
    }
  },
  async save(seen) {
    const fresh = `${at}.${process.pid}.new`
    await writeFile(fresh, `${JSON.stringify(seen)}\n`, { mode: 0o600 })
    await rename(fresh, at)
  },
})
