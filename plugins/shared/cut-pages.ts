/** Cuts texts at a total number of characters. Later texts are left out. */
export const cutPages = <T extends { readonly text: string }>(pages: readonly T[], characters: number) => {
  let left = characters
  const kept: T[] = []
  for (const page of pages) {
    if (left <= 0 && page.text !== '') return { pages: kept, truncated: true }
    kept.push(page.text.length > left ? { ...page, text: page.text.slice(0, left) } : page)
    left -= page.text.length
  }
  return { pages: kept, truncated: left < 0 }
}
