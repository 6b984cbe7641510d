import type { JsonScan } from './json-scan.ts'

/** The text of a member, made when it is first wanted: most are never read. */
type MemberText = () => string

const memberText = (bytes: Buffer, begin: number, end: number): MemberText => {
  let text: string | null = null
  return () => (text ??= bytes.toString('utf8', begin, end).trim())
}

/** The text of each member of an object, by its name. */
export type MemberTexts = ReadonlyMap<string, MemberText>

/**
 * The text of each member of an object, unchanged, as far as it is a list or an object. Null when the value is no object,
 * and when an object within names a member twice, since parsers differ in which member they take: `made` counts the
 * members that parsing gave. `repeated` gets a name that occurs twice in the outermost object.
 */
export const memberTexts = (
  scan: JsonScan,
  value: unknown,
  made: number,
  repeated: (name: string) => void = () => {},
): MemberTexts | null => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { bytes, outermost, members } = scan
  const texts = new Map<string, MemberText>()
  for (const { name: begin, nameEnd, value, valueEnd } of outermost) {
    const name = JSON.parse(bytes.toString('utf8', begin, nameEnd)) as string
    if (texts.has(name)) repeated(name)
    texts.set(name, memberText(bytes, value, valueEnd))
  }
  return members === made ? texts : null
}

/** By object or array. A changed copy has no text. */
const texts = new WeakMap<object, MemberText>()

/** Remembers how the members of a value were worded, so that they are printed as they came. */
export const keepTexts = (value: unknown, members: MemberTexts | null): void => {
  if (members === null || typeof value !== 'object' || value === null) return
  for (const [name, text] of members) {
    const member: unknown = Object.hasOwn(value, name) ? value[name as keyof typeof value] : null
    if (typeof member === 'object' && member !== null) texts.set(member, text)
  }
}

/** The original JSON of a value; undefined for a value that the gateway made. */
export const keptText = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null ? texts.get(value)?.() : undefined

/** JSON whose first level is printed as it came, as far as that is known. */
export const printKept = (value: unknown): string => {
  if (
    typeof value !== 'object' ||
    value === null ||
    !Object.values(value).some((member) => typeof member === 'object' && member !== null && texts.has(member as object))
  )
    return JSON.stringify(value)
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    const text = keptText(member) ?? JSON.stringify(member)
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${members.join()}}`
}
