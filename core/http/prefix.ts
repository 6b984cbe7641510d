import type { RequestListener } from 'node:http'

/** Takes a mount path off the URL; a path without it is served as it is, since some frameworks take it off themselves. */
export const withoutPrefix = (prefix: string, listener: RequestListener): RequestListener => {
  if (prefix === '') return listener
  return (request, response) => {
    const { url = '/' } = request
    if (url.startsWith(prefix)) {
      const rest = url.slice(prefix.length)
      if (rest === '' || rest.startsWith('?')) request.url = `/${rest}`
      else if (rest.startsWith('/')) request.url = rest
    }
    listener(request, response)
  }
}
