import { takesColour, styleText } from '../screen/style.ts'

type Line = Readonly<Record<string, unknown>>

/** Members of every line, or already used in the line's words. */
const plain = new Set(['level', 'time', 'pid', 'event', 'cause'])

/** Replaces control characters, so that a value cannot move the cursor or begin a new line. */
export const still = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?')

const factsOf = (line: Line, taken: readonly string[] = []): string =>
  Object.entries(line)
    .filter(([name, value]) => !plain.has(name) && !taken.includes(name) && value !== null && value !== undefined)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ')

/** The classes and codes of an error and its causes. */
const causesOf = ({ cause }: Line): string => {
  if (!Array.isArray(cause)) return ''
  const told = cause.map((fault: { class?: unknown; code?: unknown }) =>
    [fault.class, fault.code].filter(Boolean).join(' '),
  )
  return ` (${told.join(' < ')})`
}

/** A request in the order in which a person reads: route, status, time. */
const sentence = (line: Line): string => {
  const { event, route, status, ms } = line
  if (event === 'request') {
    const rest = factsOf(line, ['route', 'status', 'ms'])
    return `${String(route)} ${String(status)} in ${Math.round(Number(ms))} ms${rest === '' ? '' : `, ${rest}`}`
  }
  const facts = factsOf(line)
  return `${String(event).replaceAll(/[._]/g, ' ')}${facts === '' ? '' : `: ${facts}`}${causesOf(line)}`
}

const styles = { warn: 'yellow', error: 'red' } as const

const styled = (level: unknown, text: string, colour: boolean): string =>
  level === 'warn' || level === 'error' ? styleText(styles[level], text, colour) : text

/** A line of the log for a person at a terminal: the time, the level unless it is info, and the event. */
export const wordedLine = (json: string, colour = takesColour(process.env)): string => {
  const line = JSON.parse(json) as Line
  const time = new Date(Number(line['time'])).toISOString().slice(11, 19)
  const level = line['level'] === 'info' ? '' : `${String(line['level'])} `
  return `${styleText('dim', time, colour)} ${styled(line['level'], still(`${level}${sentence(line)}`), colour)}\n`
}
