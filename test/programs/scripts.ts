import type { Asked, Take } from '../fakes/recorded.ts'
import { overflow } from '../fakes/overflows.ts'
import { scripted, type Script } from '../fakes/scripted.ts'
import type { Program } from './programs.ts'

export const prompt = 'Read the note and run the command.'

/** What the note says, what the command prints, and how a long conversation is summed up. */
export const words = { note: 'marmalade-in-a-note', printed: 'IT-RAN', summary: 'A-SUMMARY-OF-ALL' }

const command = 'echo it-ran | tr a-z A-Z'

/** Reads the note, runs the command, and says so; a program's side questions get a word. */
const script =
  ({ reads, runs }: Program, note: string): Script =>
  (turn, tools) => {
    const reading = reads(note)
    if (!tools.includes(reading.call)) return [{ say: 'A title' }]
    if (turn === 0) return [{ think: 'First the file.', signature: 'Zmlyc3Q=' }, { say: 'I read.' }, reading]
    return turn === 1
      ? [{ think: 'Now the command.', signature: 'c2Vjb25k' }, runs(command)]
      : [{ say: 'All is done.' }]
  }

export const working = (program: Program, note: string): ((asked: Asked) => Take) => scripted(script(program, note))

const sums = scripted(() => [{ say: words.summary }])

/** The same before a backend that refuses the first prompt with the note in it as too long, and sums up when it is asked to. */
export const overflowing = (program: Program, note: string): ((asked: Asked) => Take) => {
  const works = working(program, note)
  let fits = true
  return (asked) => {
    const told = asked.body.toString()
    if (fits && told.includes(words.note)) {
      fits = false
      return overflow(asked)
    }
    return !fits && !told.includes(words.summary) && /summar/i.test(lastOf(told)) ? sums(asked) : works(asked)
  }
}

/** The user's last message. */
const lastOf = (told: string): string => {
  const { messages = [], contents = messages } = JSON.parse(told) as Record<string, { readonly role: string }[]>
  return JSON.stringify(contents.findLast(({ role }) => role === 'user') ?? '')
}
