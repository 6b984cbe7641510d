import { readFileSync, readdirSync } from 'node:fs'
import type { Backend } from './doors.ts'
import type { Take } from './recorded.ts'

const ups = /\/dist\/test\//.test(import.meta.url) ? '../../../test/' : '../'
const folder = new URL(`${ups}vectors/recordings/`, import.meta.url)

/** An answer of a vendor as a library of others recorded it: a whole body, or the data of events. */
export interface Recording {
  readonly name: string
  readonly dialect: Backend
  readonly stream: boolean
  readonly events?: readonly string[]
  readonly body?: string
}

/** The first line tells source, commit and licence. */
export const recordings = readdirSync(folder).flatMap((library) =>
  readFileSync(new URL(`${library}/recordings.jsonl`, folder), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as Recording),
)

/** The body of the answer. */
export const textOf = ({ dialect, events, body }: Recording): string => {
  if (events === undefined) return body!
  // Some recordings hold several answers in a row, or lack the end mark.
  const end = dialect === 'messages' ? events.findIndex((data) => data.includes('"message_stop"')) : -1
  const one = end < 0 ? events : events.slice(0, end + 1)
  const isOpen = dialect === 'chat' && !events.some((data) => data.startsWith('[DONE]'))
  return [...one, ...(isOpen ? ['[DONE]'] : [])].map((data) => `data: ${data}\n\n`).join('')
}

/** What a backend answers that plays the recording. */
export const takeOf = (recording: Recording): Take => ({
  headers: { 'content-type': recording.stream ? 'text/event-stream' : 'application/json' },
  body: textOf(recording),
})

/** False where the recording holds two answers or an error of its backend, so that no door gives an answer. */
export const isAnswer = ({ name, events = [] }: Recording): boolean =>
  !name.includes('spliced-message-start') && !events.some((data) => /"type":"(?:error|response\.failed)"/.test(data))
