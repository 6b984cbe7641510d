import { posix } from 'node:path'
import { Unreadable } from '../../../core/errors.ts'
import { scanXml } from './markup.ts'

/** The parts of an office file, by name. */
export type Parts = ReadonlyMap<string, Uint8Array>

/** A relation from one part of an office file to another. */
export interface Relation {
  readonly id: string
  /** The last word of the relation's type, such as `styles`. */
  readonly kind: string
  /** The name of the target part. */
  readonly target: string
}

/** The relations of a part; '' is the package itself. Targets outside the package are left out. */
export const relationsOf = (parts: Parts, part: string): readonly Relation[] => {
  const folder = posix.dirname(part)
  const bytes = parts.get(posix.join(folder, '_rels', `${posix.basename(part)}.rels`))
  const relations: Relation[] = []
  if (bytes === undefined) return relations
  scanXml(bytes, {
    open(name, attribute) {
      if (name !== 'Relationship' || attribute('TargetMode') === 'External') return
      const target = attribute('Target') ?? ''
      relations.push({
        id: attribute('Id') ?? '',
        kind: attribute('Type')?.split('/').at(-1) ?? '',
        target: posix.join(target.startsWith('/') ? '' : folder, target).replace(/^\//, ''),
      })
    },
  })
  return relations
}

/** The part that a relation of this kind leads to; null when there is none. */
export const partAt = (parts: Parts, relations: readonly Relation[], kind: string): Uint8Array | null =>
  parts.get(relations.find((relation) => relation.kind === kind)?.target ?? '') ?? null

/** Throws Unreadable when the part is missing. */
export const neededPart = (parts: Parts, name: string): Uint8Array => {
  const bytes = parts.get(name)
  if (bytes === undefined) throw new Unreadable()
  return bytes
}

/** The first text in an element of this name; '' when there is none. */
export const textIn = (bytes: Uint8Array | null, element: string): string => {
  let found = ''
  let ended = false
  if (bytes === null) return found
  scanXml(bytes, {
    text(text, within) {
      if (within === element) found += text
    },
    close(name) {
      if (name === element) ended = true
    },
    full: () => ended,
  })
  return found
}
