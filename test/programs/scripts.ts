import type { Asked, Take } from '../fakes/recorded.ts'
import { overflow } from '../fakes/overflows.ts'
import { scripted, type Script } from '../fakes/scripted.ts'
import type { Program } from './programs.ts'

export const prompt = 'Read the note and run the command.'

/** What the note says, what the command prints, and how a long conversation is summed up. */
export const words = { note: 'marmalade-in-a-note', printed: 'IT-RAN', summary: 'A-SUMMARY-OF-ALL' }

const command = 'echo it-ran | tr a-z A-Z'

type Use = ReturnType<Program['reads']>

/** The use of a tool as it is offered: one of a namespace has a longer name before backends of other dialects. */
export const offered = (use: Use, tools: readonly string[]): Use | null => {
  const call = tools.find((name) => name === use.call || name.endsWith(`__${use.call}`))
  return call === undefined ? null : { ...use, call }
}

/** Reads the note, runs the command, and says so; a program's side questions get a word. */
const script =
  ({ reads, runs }: Program, note: string): Script =>
  (turn, tools) => {
    const [reading, running] = [offered(reads(note), tools), offered(runs(command), tools)]
    if (reading === null || running === null) return [{ say: 'A title' }]
    if (turn === 0) return [{ think: 'First the file.', signature: 'Zmlyc3Q=' }, { say: 'I read.' }, reading]
    return turn === 1 ? [{ think: 'Now the command.', signature: 'c2Vjb25k' }, running] : [{ say: 'All is done.' }]
  }

export const working = (program: Program, note: string): ((request: Asked) => Take) => scripted(script(program, note))

/** Ms for which every backend is overloaded. */
const outage = 6_000

/** The same behind an outage that begins with the first request. */
export const interrupted = (program: Program, note: string): ((request: Asked) => Take) => {
  const works = working(program, note)
  let until = 0
  return (request) => {
    if (request.method !== 'POST') return works(request)
    if (until === 0) until = Date.now() + outage
    if (Date.now() > until) return works(request)
    const body = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
    return { status: 529, headers: { 'content-type': 'application/json' }, body }
  }
}

const sums = scripted(() => [{ say: words.summary }])

/** The same before a backend that refuses the first prompt with the note in it as too long, and sums up when it is asked to. */
export const overflowing = (program: Program, note: string): ((request: Asked) => Take) => {
  const works = working(program, note)
  let fits = true
  return (request) => {
    const told = request.body.toString()
    if (fits && told.includes(words.note)) {
      fits = false
      return overflow(request)
    }
    return !fits && !told.includes(words.summary) && /summar/i.test(lastOf(told)) ? sums(request) : works(request)
  }
}

/** The user's last message. */
const lastOf = (told: string): string => {
  const { messages = [], contents = messages } = JSON.parse(told) as Record<string, { readonly role: string }[]>
  return JSON.stringify(contents.findLast(({ role }) => role === 'user') ?? '')
}
