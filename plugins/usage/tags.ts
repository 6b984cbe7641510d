import { mostTags, otherTags } from './usage-writer.ts'

/** The tags that are counted, and `other` for those beyond the bound of an organisation's day. */
export type TagBound = (organization: string, day: string, tags: readonly string[]) => readonly string[]

/** `beyond` hears once a day of an organisation with too many tags. */
export const tagBound = (beyond: (organization: string) => void): TagBound => {
  let today = ''
  const known = new Map<string, Set<string>>()
  const warned = new Set<string>()
  return (organization, day, tags) => {
    if (day > today) {
      today = day
      known.clear()
      warned.clear()
    }
    let own = known.get(organization)
    if (own === undefined) known.set(organization, (own = new Set()))
    const counted = tags.map((tag) => {
      if (own.has(tag)) return tag
      if (own.size >= mostTags) {
        if (!warned.has(organization)) beyond(organization)
        warned.add(organization)
        return otherTags
      }
      own.add(tag)
      return tag
    })
    return [...new Set(counted)]
  }
}
