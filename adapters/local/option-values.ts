/** The values of options as the parser of arguments gives them: undefined where an option is absent. */
export type OptionValues<Options> = {
  readonly [name in keyof Options]?: (Options[name] extends { readonly type: 'boolean' } ? boolean : string) | undefined
}

/** Whether the calendar has this day; parsing alone takes a 31st of each month. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).getUTCDate() === Number(text.slice(-2))

const clock = /^(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/

/** Ms of `--at`; the other time where it is absent. Throws for forms in which the order of day and month is a guess. */
export const timeOf = (text: string | undefined, otherwise = Date.now()): number => {
  if (text === undefined) return otherwise
  const time = Date.parse(text)
  if (isDay(text.slice(0, 10)) && clock.test(text.slice(10)) && !Number.isNaN(time)) return time
  throw new Error('--at is a time, such as 2026-11-01T12:00:00Z')
}

/** Both bounds are inclusive. Throws with the sentence for any other text; an empty one is a variable of a script that is not set. */
export const wholeNumberOf = (text: string, least: number, most: number, sentence: string): number => {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw new Error(sentence)
}

/** Port 0 lets the system choose a free port. */
export const portOf = (text: string): number => wholeNumberOf(text, 0, 65_535, '--port is a number up to 65535')
