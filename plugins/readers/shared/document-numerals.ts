/** The counting of lists: `decimal`, `lower-letter`, `upper-letter`, `lower-roman` or `upper-roman`. */
export type Counting = 'decimal' | 'lower-letter' | 'upper-letter' | 'lower-roman' | 'upper-roman'

/** Ways of counting, as lists of pages and of OpenDocument name them. */
export const countings: Readonly<Record<string, Counting>> = {
  '1': 'decimal',
  a: 'lower-letter',
  A: 'upper-letter',
  i: 'lower-roman',
  I: 'upper-roman',
}

/** Numbers that have no letters or Roman form stay decimal: those below 1 and above 4,999. */
export const numeral = (number: number, counting: Counting): string => {
  if (counting === 'decimal' || number < 1 || number > 4999) return String(number)
  const text = counting.endsWith('letter') ? letters(number) : roman(number)
  return counting.startsWith('upper') ? text : text.toLowerCase()
}

/** Letters repeat after Z, as in Word: 27 is AA, and 53 is AAA. */
const letters = (number: number): string => String.fromCharCode(65 + ((number - 1) % 26)).repeat(Math.ceil(number / 26))

const signs = 'M 1000 CM 900 D 500 CD 400 C 100 XC 90 L 50 XL 40 X 10 IX 9 V 5 IV 4 I 1'.split(' ')

const roman = (number: number): string => {
  let text = ''
  for (let at = 0, rest = number; at < signs.length; at += 2)
    for (const worth = Number(signs[at + 1]); rest >= worth; rest -= worth) text += signs[at]
  return text
}
