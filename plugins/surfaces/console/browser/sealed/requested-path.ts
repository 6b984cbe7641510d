/** A path of the gateway and its query. */
export const requestedPath = (path: string): { readonly pathname: string; readonly query: URLSearchParams } => {
  const [pathname = '', query = ''] = path.split('?')
  return { pathname, query: new URLSearchParams(query) }
}
