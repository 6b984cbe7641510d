export interface Address {
  readonly page: string
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What `#/keys/key_1?by=day` names; home for anything else. */
export const addressOf = (hash: string): Address => {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [page = '', ...rest] = path.split('/').map(decoded)
  return {
    page: page === '' ? 'home' : page,
    path: rest.filter((part) => part !== ''),
    query: new URLSearchParams(query),
  }
}
