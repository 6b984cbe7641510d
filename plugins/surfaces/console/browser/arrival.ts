/** What the address of the page brought, beside the page that it names. */
export type Arrival =
  { readonly by: 'link'; readonly link: string } | { readonly by: 'login'; readonly answer: URLSearchParams }

const linkShape = /^#link=([\w-]{43})$/

/** Takes a link or the answer of an issuer out of the address and the history, before anything is asked. Null without one. */
export const arrivalAt = ({ pathname, search, hash }: Location, history: History): Arrival | null => {
  const link = linkShape.exec(hash)?.[1]
  const answer = new URLSearchParams(search)
  if (link === undefined && !answer.has('state')) return null
  history.replaceState(null, '', pathname)
  return link === undefined ? { by: 'login', answer } : { by: 'link', link }
}
