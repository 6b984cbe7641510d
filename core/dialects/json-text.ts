import { endOfString } from './json.ts'

/** The text of each member of an object, by its name. */
export type MemberTexts = ReadonlyMap<string, string>

/**
 * The text of each member of an object, unchanged. Null when the value is no object, and when an object names a member
 * twice, since parsers differ in which member they take. `repeated` gets a name that occurs twice in the outermost object.
 * The text must be valid JSON, and `value` its parsed form.
 */
export const memberTexts = (
  text: string,
  value: unknown,
  repeated: (name: string) => void = () => {},
): MemberTexts | null => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const members = new Map<string, string>()
  let [depth, named, name, begin] = [0, 0, '', 0]
  const close = (end: number) => {
    if (members.has(name)) repeated(name)
    members.set(name, text.slice(begin, end).trim())
  }
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at)
        if (depth === 1 && begin === 0) name = JSON.parse(text.slice(at, end)) as string
        at = end - 1
        break
      }
      case colon:
        named++
        if (depth === 1) begin = at + 1
        break
      case comma:
        if (depth !== 1) break
        close(at)
        begin = 0
        break
      case brace:
      case bracket:
        depth++
        break
      case braceEnd:
      case bracketEnd:
        depth--
        if (depth === 0 && begin > 0) close(at)
    }
  }
  return named === membersIn(value) ? members : null
}

const [quote, comma, colon, bracket, bracketEnd, brace, braceEnd] = [34, 44, 58, 91, 93, 123, 125]

/** Members of all objects in a value. */
const membersIn = (value: object): number => {
  let count = 0
  if (Array.isArray(value)) {
    for (const it of value) if (typeof it === 'object' && it !== null) count += membersIn(it as object)
    return count
  }
  for (const name in value) {
    count++
    const it: unknown = value[name as keyof typeof value]
    if (typeof it === 'object' && it !== null) count += membersIn(it)
  }
  return count
}

/** By object or array. A changed copy has no text. */
const texts = new WeakMap<object, string>()

/** Remembers how the members of a value were worded, so that they are printed as they came. */
export const keepTexts = (value: unknown, members: MemberTexts | null): void => {
  if (members === null || typeof value !== 'object' || value === null) return
  for (const [name, it] of Object.entries(value)) {
    const text = members.get(name)
    if (text !== undefined && typeof it === 'object' && it !== null) texts.set(it as object, text)
  }
}

/** The original JSON of a value; undefined for a value that the gateway made. */
export const keptText = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null ? texts.get(value) : undefined

/** JSON whose first level is printed as it came, as far as that is known. */
export const printKept = (value: unknown): string => {
  if (typeof value !== 'object' || value === null || !Object.values(value).some((it) => keptText(it) !== undefined))
    return JSON.stringify(value)
  const members: string[] = []
  for (const [name, it] of Object.entries(value)) {
    const text = keptText(it) ?? JSON.stringify(it)
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${members.join()}}`
}
