/** The name of a kind or field. Throws when the name cannot stand unchanged in a statement or key. */
export const storedName = (name: string): string => {
  if (!/^[\w.:/@+-]+$/.test(name)) throw new Error('A kind or field has a name that cannot be stored')
  return name
}
