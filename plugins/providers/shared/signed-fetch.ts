import type { Answer, AnswerHeaders, AnswerLine, AnswerReader, Ask, Fetch } from '../../../core/ports/platform.ts'
import type { SignIn } from './sign-in.ts'

type Headers = Readonly<Record<string, string>>

const signed = (headers: Headers | undefined, token: string): Headers => ({
  ...headers,
  authorization: `Bearer ${token}`,
})

/** The door to a backend, with the token of a sign-in on each request. A token that the backend refuses is not used again. */
export const signedFetch = ({ outside, upstream, push }: Fetch, signIn: SignIn): Fetch => ({
  outside,
  async upstream(url: string, ask: Ask): Promise<Answer> {
    const token = await signIn.token(ask.signal)
    const answer = await upstream(url, { ...ask, headers: signed(ask.headers, token) })
    if (answer.status === 401) signIn.forget(token)
    return answer
  },
  ...(push && {
    push(url: string, headers: Headers, body: string | Uint8Array, reader: AnswerReader): boolean {
      // Without a token the call goes by the promises above, which sign in.
      const token = signIn.kept()
      return token !== null && push(url, signed(headers, token), body, new SignedAnswer(reader, signIn, token))
    },
  }),
})

/** Forgets the token that the backend refuses. A class: each call makes one. */
class SignedAnswer implements AnswerReader {
  readonly #reader: AnswerReader
  readonly #signIn: SignIn
  readonly #token: string

  constructor(reader: AnswerReader, signIn: SignIn, token: string) {
    this.#reader = reader
    this.#signIn = signIn
    this.#token = token
  }

  onRequestStart(line: AnswerLine): void {
    this.#reader.onRequestStart(line)
  }

  onResponseStart(line: AnswerLine, status: number, headers: AnswerHeaders): void {
    if (status === 401) this.#signIn.forget(this.#token)
    this.#reader.onResponseStart(line, status, headers)
  }

  onResponseData(line: AnswerLine, part: Uint8Array): void {
    this.#reader.onResponseData(line, part)
  }

  onResponseEnd(line: AnswerLine): void {
    this.#reader.onResponseEnd(line)
  }

  onResponseError(line: AnswerLine, error: Error): void {
    this.#reader.onResponseError(line, error)
  }
}
