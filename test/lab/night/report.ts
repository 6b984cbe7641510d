/** How one part of the night ended, last. */
export interface Row {
  readonly part: string
  readonly isFine: boolean
  readonly day: string
  /** The commit that was played, with a plus sign where files differed from it. */
  readonly commit: string
  readonly node: string
  readonly minutes: number
  /** The line of its output that sums it up. */
  readonly said: string
}

const head = `# The last night

\`npm run night\` plays every test, hunt and mutation whole, part by part. Each part keeps its last result here; \`npm run night -- PART …\` plays some of them.

| part | result | day | commit | Node | minutes | what it said last |
|---|---|---|---|---|---|---|
`

const cell = (text: string): string => text.replaceAll('|', '/').replaceAll('`', "'").trim()

const lineOf = ({ part, isFine, day, commit, node, minutes, said: text }: Row): string =>
  `| ${[part, isFine ? 'fine' : '**failed**', day, commit, node, minutes.toFixed(1), cell(text)].join(' | ')} |\n`

const rowOf = (line: string): Row | null => {
  const [, part, result, day, commit, node, minutes, text] = line.split('|').map((part) => part.trim())
  if (part === undefined || day === undefined || commit === undefined || node === undefined || text === undefined)
    return null
  return /^\d{4}-/.test(day)
    ? { part, isFine: result === 'fine', day, commit, node, minutes: Number(minutes), said: text }
    : null
}

/** The rows of a page that `pageOf` made. */
export const rowsOf = (page: string): readonly Row[] =>
  page
    .split('\n')
    .map(rowOf)
    .filter((row) => row !== null)

/** The page with a part's new result. Parts stand in the order of `parts`; those that no longer exist are left out. */
export const pageOf = (parts: readonly string[], before: readonly Row[], fresh: Row | null = null): string => {
  const rows = new Map([...before, ...(fresh === null ? [] : [fresh])].map((row) => [row.part, row]))
  return (
    head +
    parts
      .map((part) => rows.get(part))
      .map((row) => (row === undefined ? '' : lineOf(row)))
      .join('')
  )
}
