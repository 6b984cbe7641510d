import { SealgateError } from './error.ts'
import type { FormStream } from './form-stream.ts'
import { gathered } from './byte-source.ts'
import { type Connection, refusal } from './seal-request.ts'

export interface Asking {
  readonly json?: unknown
  readonly form?: FormStream
  readonly signal?: AbortSignal
  /** A status of refusal whose answer the caller reads. */
  readonly passing?: number
}

/** Requests that are not sealed as a whole: what is in them is. */
export interface Ask {
  /** The answer when it is one of success; read it, or cancel it. */
  raw(method: string, path: string, asking?: Asking): Promise<Response>
  /** What the envelope holds. */
  data<T>(method: string, path: string, asking?: Asking): Promise<T>
}

/** A path whose parts may hold anything. */
export const pathFor = (texts: TemplateStringsArray, ...parts: readonly string[]): string =>
  String.raw(texts, ...parts.map(encodeURIComponent))

export const asking = ({ baseUrl, apiKey, fetch }: Connection): Ask => {
  const raw: Ask['raw'] = async (method, path, { json, form, signal, passing } = {}) => {
    const type = form?.type ?? (json === undefined ? null : 'application/json')
    const answer = await fetch(`${baseUrl}/${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(type && { 'content-type': type }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(form && (await bodyOf(form))),
      ...(signal && { signal }),
    }).catch((cause: unknown) => {
      // What broke while the body was being made is no fault of the line.
      const own = (cause as { cause?: unknown }).cause
      throw signal?.aborted
        ? signal.reason
        : own instanceof SealgateError
          ? own
          : new SealgateError('unreachable', { cause })
    })
    if (answer.ok || answer.status === passing) return answer
    await answer.body?.cancel()
    throw refusal(answer)
  }
  return {
    raw,
    async data<T>(method: string, path: string, asking?: Asking) {
      const answer = await raw(method, path, asking)
      const said = (await answer.json().catch((cause: unknown) => {
        throw new SealgateError('truncated', { cause })
      })) as { data: T }
      return said.data
    },
  }
}

/** Browsers send no streams over HTTP/1.1, so there the form is a Blob, which they keep on the disk when it is large. */
const bodyOf = async (form: FormStream): Promise<RequestInit> => {
  if (typeof document !== 'undefined')
    return { body: new Blob([(await gathered(form.parts())) as Uint8Array<ArrayBuffer>]) }
  const parts = form.parts()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await parts.return(undefined)),
  })
  return { body, duplex: 'half' } as RequestInit
}
