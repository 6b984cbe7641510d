import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestListener } from 'node:http'
import { tagHeader } from '../../../../core/access/tags.ts'

/** The tags of a program's request go to the gateway in the clear, beside what is sealed. */
export interface PassedTags {
  readonly fetch: typeof globalThis.fetch
  /** The listener whose requests hand on their tags. */
  around(listener: RequestListener): RequestListener
}

/** The tags follow the request through asynchronous work, so that no code between must hand them on. */
export const passedTags = (): PassedTags => {
  const current = new AsyncLocalStorage<string>()
  return {
    fetch(target, init) {
      const tags = current.getStore()
      if (tags === undefined || init?.method !== 'POST') return globalThis.fetch(target, init)
      const headers = new Headers(init.headers)
      headers.set(tagHeader, tags)
      return globalThis.fetch(target, { ...init, headers })
    },
    around: (listener) => (request, response) => {
      const tags = request.headers[tagHeader]
      if (typeof tags !== 'string') return listener(request, response)
      current.run(tags, () => listener(request, response))
    },
  }
}
