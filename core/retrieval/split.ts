export interface Section {
  readonly text: string
  readonly heading: string | null
  readonly page: number | null
}

export interface Passage {
  readonly text: string
  readonly heading: string | null
  readonly page: number | null
}

export const split = (sections: readonly Section[]): readonly Passage[] =>
  sections.flatMap(({ text, ...rest }) => (text.match(/[\s\S]{1,900}/g) ?? []).map((text) => ({ ...rest, text })))
