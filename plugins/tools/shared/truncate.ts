import { cutText } from '../../shared/cut-text.ts'

/** Reads texts from unchecked values, and remembers whether a text was cut. */
export const truncatingReader = () => {
  let cut = false
  const text = (value: unknown, most: number): string => {
    const whole = typeof value === 'string' ? value.trim() : ''
    cut ||= whole.length > most
    return whole.length > most ? cutText(whole, most) : whole
  }
  return {
    text,
    list(value: unknown, most: number): readonly unknown[] {
      const whole = Array.isArray(value) ? value : []
      cut ||= whole.length > most
      return whole.slice(0, most)
    },
    wasCut: () => cut,
  }
}

/** The first sentence of a text, in place of a missing heading. */
export const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text
