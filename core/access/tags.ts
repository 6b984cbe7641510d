import { BadRequest } from '../errors.ts'
import type { Caller } from './caller.ts'

/** The header in which a caller names the tags of a request. */
export const tagHeader = 'x-sealgate-tags'

/** Tags of one request. */
const most = 8
const mostCharacters = 1_024
/** Variants of a caller that are remembered, so that whatever is worked out for a caller is worked out once. */
const mostVariants = 64

/** A name of at most 32 characters, and a value of at most 64. */
const pair = /^([A-Za-z0-9][\w.-]{0,31})=([A-Za-z0-9][\w.-]{0,63})$/

const malformed = (): BadRequest =>
  new BadRequest('The tags are malformed', {
    validator: { [tagHeader]: `Expected at most ${most} pairs such as feature=search, of letters, digits and . _ -` },
  })

/** Sorted pairs, each name once. Throws BadRequest. */
export const tagsOf = (header: string): readonly string[] => {
  if (header.length > mostCharacters) throw malformed()
  const tags = header.split(',').map((part) => part.trim())
  const names = new Set(tags.map((tag) => pair.exec(tag)?.[1]))
  if (tags.length > most || names.size !== tags.length || names.has(undefined)) throw malformed()
  return tags.sort()
}

/** Tagged callers hang on their caller, so they leave memory together with the key that was read. */
const variants = new WeakMap<Caller, Map<string, Caller>>()

/** The caller with the tags of a request; the caller itself for a request without any. Throws BadRequest. */
export const taggedCaller = (caller: Caller, header: string | readonly string[] | undefined): Caller => {
  if (header === undefined) return caller
  if (typeof header !== 'string') throw malformed()
  let own = variants.get(caller)
  if (own === undefined) variants.set(caller, (own = new Map()))
  let tagged = own.get(header)
  if (tagged === undefined) {
    tagged = { ...caller, tags: tagsOf(header) }
    if (own.size >= mostVariants) own.clear()
    own.set(header, tagged)
  }
  return tagged
}
