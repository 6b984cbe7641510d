import { Unconfigured, Unreadable } from '../../core/errors.ts'
import type { FileToRead, Kind, Reader } from '../../core/ports/reader.ts'

/** The first reader that fits the file, those of last resort at the end. Throws Unreadable where none fits. */
export const readerOf = (readers: readonly Reader[], file: FileToRead): Reader => {
  const found = fitting(readers, file)
  if (found === undefined) throw new Unreadable()
  return found
}

/**
 * The reader of one kind. Where none of that kind fits, the last one reads the file and reports its faults. Throws
 * Unconfigured where no reader of that kind is installed.
 */
export const readerOfKind = <K extends Kind>(readers: readonly Reader[], kind: K, file: FileToRead): Reader<K> => {
  const all = readers.filter((reader) => isOfKind(reader, kind))
  const found = fitting(all, file) ?? all.at(-1)
  if (found === undefined) throw new Unconfigured({ validator: { readers: `Expected a reader of the kind ${kind}` } })
  return found
}

/** The reader that looks at the pages of the file. Throws Unreadable where none fits. */
export const readerThatSees = (readers: readonly Reader[], file: FileToRead) => {
  const found = fitting(readers.filter(sees), file)
  if (found === undefined) throw new Unreadable()
  return found
}

const fitting = <R extends Reader>(readers: readonly R[], file: FileToRead): R | undefined =>
  readers.find((reader) => !reader.lastResort && reader.fits(file)) ??
  readers.find((reader) => reader.lastResort && reader.fits(file))

const isOfKind = <K extends Kind>(reader: Reader, kind: K): reader is Reader<K> => (reader.kind as Kind) === kind

const sees = (reader: Reader): reader is Reader & Required<Pick<Reader, 'see'>> => reader.see !== undefined
