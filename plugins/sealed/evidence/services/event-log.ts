import { concat, same, utf8 } from '../../wire/bytes.ts'
import { type EvidenceMembers, evidenceMembersOf, textIn } from '../fields.ts'
import { digest } from '../keys.ts'
import { demand, refuse } from '../reasons.ts'
import { hexMember } from './document.ts'

/** Events of the application: dstack extends the last register with them. */
const appRegister = 3
const appEvent = 0x08000001
const mostEvents = 1024
const mostPayload = 64 * 1024

/** An event of an application's start: its name and the bytes that were measured. */
export interface AppEvent {
  readonly name: string
  readonly payload: Uint8Array
}

const littleEndian = (value: number): Uint8Array => Uint8Array.of(value, value >> 8, value >> 16, value >> 24)

const payloadOf = (event: EvidenceMembers): Uint8Array => {
  const text = textIn(event, 'event_payload', 2 * mostPayload)
  return hexMember(event, 'event_payload', text.length / 2)
}

/** The number of a register. */
const registerOf = ({ imr }: EvidenceMembers): number =>
  imr === 0 || imr === 1 || imr === 2 || imr === appRegister ? imr : refuse('evidence_malformed', 'imr')

/** Throws unless the digest of an application's event is the one of its name and payload. */
const appEventOf = async (event: EvidenceMembers, hash: Uint8Array): Promise<AppEvent> => {
  const name = textIn(event, 'event', 128)
  const payload = payloadOf(event)
  demand(event['event_type'] === appEvent, 'evidence_malformed', 'event_type')
  const whole = concat(littleEndian(appEvent), utf8(`:${name}:`), payload)
  demand(same(await digest('SHA-384', whole), hash), 'measurement_not_allowed', 'digest of an event')
  return { name, payload }
}

/** Replays a log. Throws unless it leads to exactly these registers. Returns the application's events in order. */
export const replayed = async (log: unknown, registers: readonly Uint8Array[]): Promise<readonly AppEvent[]> => {
  if (!Array.isArray(log) || log.length > mostEvents) return refuse('evidence_malformed', 'event_log')
  const sums = [0, 1, 2, 3].map(() => new Uint8Array(48))
  const events: AppEvent[] = []
  for (const entry of log as readonly unknown[]) {
    const event = evidenceMembersOf(entry, 'event_log')
    const register = registerOf(event)
    const hash = hexMember(event, 'digest', 48)
    if (register === appRegister) events.push(await appEventOf(event, hash))
    sums[register] = (await digest('SHA-384', concat(sums[register]!, hash))) as Uint8Array<ArrayBuffer>
  }
  demand(
    sums.every((sum, at) => same(sum, registers[at]!)),
    'measurement_not_allowed',
    'event_log',
  )
  return events
}

/** The payload of the only event with this name. A second one could hide the first. */
export const eventOf = (events: readonly AppEvent[], name: string): Uint8Array => {
  const [found, ...more] = events.filter((event) => event.name === name)
  return found !== undefined && more.length === 0 ? found.payload : refuse('measurement_not_allowed', `event ${name}`)
}
