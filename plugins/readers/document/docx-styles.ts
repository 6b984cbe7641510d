import { scanXml } from '../shared/markup.ts'

/** The facts of a paragraph style, inherited ones included. */
export interface Style {
  /** The level of a heading, from 1; null when the style is no heading. */
  readonly heading: number | null
  readonly title: boolean
  readonly list: string | null
  readonly level: number
}

/** A style as the file has it; null means that the parent style decides. */
interface Written {
  name: string
  parent: string
  outline: number | null
  list: string | null
  level: number | null
}

/** The style by its id. A chain of parents ends after 20 styles, which also ends a circle. */
export const stylesOf = (bytes: Uint8Array | null): ((id: string) => Style) => {
  const styles = bytes === null ? new Map<string, Written>() : read(bytes)
  return (id) => {
    const chain: Written[] = []
    for (let next = styles.get(id); next && chain.length < 20; next = styles.get(next.parent)) chain.push(next)
    const nearest = <K extends keyof Written>(key: K) => chain.find((style) => style[key] !== null)?.[key] ?? null
    const named = chain.map(({ name }) => /^heading ([1-9])$/i.exec(name)?.[1]).find((level) => level !== undefined)
    return {
      heading: named === undefined ? headingOf(nearest('outline')) : Number(named),
      title: chain[0]?.name.toLowerCase() === 'title',
      list: nearest('list'),
      level: nearest('level') ?? 0,
    }
  }
}

/** Word stores headings as outline levels 0 to 8, and plain text as 9. */
export const headingOf = (outline: number | null): number | null =>
  outline !== null && outline >= 0 && outline < 9 ? outline + 1 : null

const read = (bytes: Uint8Array): ReadonlyMap<string, Written> => {
  const styles = new Map<string, Written>()
  let style: Written | null = null
  scanXml(bytes, {
    open(name, attribute) {
      if (name === 'style') {
        style = { name: '', parent: '', outline: null, list: null, level: null }
        styles.set(attribute('styleId') ?? '', style)
      }
      const value = attribute('val')
      if (!style || value === null) return
      if (name === 'name') style.name = value
      else if (name === 'basedOn') style.parent = value
      else if (name === 'outlineLvl') style.outline = Number(value)
      else if (name === 'numId') style.list = value
      else if (name === 'ilvl') style.level = Number(value)
    },
  })
  return styles
}
