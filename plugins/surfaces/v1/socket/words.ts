import { twice, parsed } from '../../../../core/dialects/json.ts'
import { isSpace, type JsonBounds, JsonScan, malformed, quote } from '../../../../core/dialects/json-scan.ts'
import type { Pace } from '../../../../core/dialects/loop-time.ts'
import { scanInTurns } from '../../../../core/dialects/read-json.ts'

/** A member of an object, in the bytes of its text. */
export interface Member {
  /** Null for a name that is longer than any that is looked for. */
  readonly name: string | null
  /** The name, the colon and the value. */
  readonly whole: Buffer
  readonly value: Buffer
}

/** Bytes of a name that is looked at, however it is escaped, and of a value that is read. */
const [mostName, mostShort] = [160, 1_024]
/** Spaces before a text. */
const mostSpace = 64

const trimmed = (bytes: Buffer): Buffer => {
  let [from, to] = [0, bytes.length]
  while (from < to && isSpace(bytes[from])) from++
  while (to > from && isSpace(bytes[to - 1])) to--
  return bytes.subarray(from, to)
}

/**
 * The members of the object that a text holds; null for another value. Nothing is copied or built: long values go on as
 * they came, and are checked where they are read.
 */
export const membersOf = async (bytes: Buffer, bounds: JsonBounds, pace: Pace): Promise<readonly Member[] | null> => {
  const scan = new JsonScan(bytes, bounds)
  await scanInTurns(scan, pace)
  const { begin, end, outermost } = scan
  if (end < 0 || begin > mostSpace || trimmed(bytes.subarray(0, begin)).length > 0) throw malformed()
  if (bytes[begin] !== 0x7b) return null
  return outermost.map(({ name, nameEnd, value, valueEnd }) => ({
    name: nameEnd - name > mostName ? null : String(parsed(bytes.toString('utf8', name, nameEnd))),
    whole: bytes.subarray(name, valueEnd),
    value: trimmed(bytes.subarray(value, valueEnd)),
  }))
}

/** A short value; undefined for a long one. */
export const shortValue = ({ value }: Pick<Member, 'value'>): unknown =>
  value.length > mostShort ? undefined : parsed(value.toString('utf8'))

const [bracket, bracketEnd] = [0x5b, 0x5d]
const userItem = [Buffer.from('{"type":"message","role":"user","content":'), Buffer.from('}')] as const

/** The items of a list, or of a text that stands for one, without brackets; null for another value. */
export const itemsIn = (value: Buffer): readonly Buffer[] | null => {
  const [first, last] = [value[0], value.at(-1)]
  if (first === bracket && last === bracketEnd) {
    const items = trimmed(value.subarray(1, -1))
    return items.length === 0 ? [] : [items]
  }
  return first === quote && last === quote ? [userItem[0], value, userItem[1]] : null
}

/** A message of a peer. */
export interface Words {
  readonly type: unknown
  /** Whether the items are remembered without a call of a model. */
  readonly isWarm: boolean
  /** The response on which the turn rests. */
  readonly previous: Member | null
  readonly input: Buffer | null
  /** The members of the request, without those that only a WebSocket knows, and without its input. */
  readonly members: readonly Buffer[]
}

const ofSocket = ['type', 'stream', 'generate', 'previous_response_id', 'input']

const given = (member: Member | undefined): Member | null =>
  member === undefined || shortValue(member) === null ? null : member

/** Null for a message that is no object. */
export const wordsOf = async (message: Buffer, bounds: JsonBounds, pace: Pace): Promise<Words | null> => {
  const all = await membersOf(message, bounds, pace)
  if (all === null) return null
  const own = new Map<string, Member>()
  const members: Buffer[] = []
  for (const member of all)
    if (member.name === null || !ofSocket.includes(member.name)) members.push(member.whole)
    else if (own.has(member.name)) twice(member.name)
    else own.set(member.name, member)
  const [type, generate] = [own.get('type'), own.get('generate')]
  return {
    type: type && shortValue(type),
    isWarm: generate !== undefined && shortValue(generate) === false,
    previous: given(own.get('previous_response_id')),
    input: given(own.get('input'))?.value ?? null,
    members,
  }
}
