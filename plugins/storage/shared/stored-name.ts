/** The name of a kind or field, when it is one that stands in a statement or a key as it is; throws otherwise. */
export const storedName = (name: string): string => {
  if (!/^[\w.:/@+-]+$/.test(name)) throw new Error('A kind or field has a name that cannot be stored')
  return name
}
