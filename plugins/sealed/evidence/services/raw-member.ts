import { demand, refuse } from '../reasons.ts'

/** The end of the JSON string that begins at `at`. */
const stringEnd = (text: string, at: number): number => {
  for (let here = at + 1; here < text.length; here++) {
    if (text[here] === '\\') here++
    else if (text[here] === '"') return here + 1
  }
  return refuse('evidence_malformed', 'document')
}

const afterSpace = (text: string, at: number): number => {
  let here = at
  while (' \t\r\n'.includes(text[here] ?? 'end')) here++
  return here
}

/** The end of the JSON value that begins at `at`. */
const valueEnd = (text: string, at: number): number => {
  let depth = 0
  for (let here = at; here < text.length; here++) {
    const character = text[here]!
    if (character === '"') here = stringEnd(text, here) - 1
    else if (character === '{' || character === '[') depth++
    else if (depth > 0 && (character === '}' || character === ']')) depth--
    else if (depth === 0 && (character === ',' || character === '}')) return here
  }
  return refuse('evidence_malformed', 'document')
}

/**
 * The texts of an object's members as they stand, since a hash is over those bytes. A member that occurs twice is
 * refused: two readers could take different ones. The text is known to be JSON.
 */
export const rawMembers = (text: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  let at = afterSpace(text, 0)
  demand(text[at] === '{', 'evidence_malformed', 'document')
  at = afterSpace(text, at + 1)
  while (text[at] === '"') {
    const nameEnd = stringEnd(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    const begin = afterSpace(text, afterSpace(text, nameEnd) + 1)
    const end = valueEnd(text, begin)
    demand(!found.has(name), 'evidence_malformed', 'a member occurs twice')
    found.set(name, text.slice(begin, end).trimEnd())
    at = afterSpace(text, end + 1)
  }
  return found
}
