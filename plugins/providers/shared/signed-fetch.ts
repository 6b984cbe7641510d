import type { Answer, Ask, Fetch } from '../../../core/ports/platform.ts'
import type { SignIn } from './sign-in.ts'

/** The door to a backend, with the token of a sign-in on each request. A token that the backend refuses is not used again. */
export const signedFetch = (fetch: Fetch, signIn: SignIn): Fetch => ({
  outside: fetch.outside,
  async upstream(url: string, ask: Ask): Promise<Answer> {
    const token = await signIn.token(ask.signal)
    const answer = await fetch.upstream(url, { ...ask, headers: { ...ask.headers, authorization: `Bearer ${token}` } })
    if (answer.status === 401) signIn.forget(token)
    return answer
  },
})
