import { cutBy, SealgateError } from './error.ts'
import type { FormStream } from './form-stream.ts'
import { joinedBytes, streamOf } from './byte-source.ts'
import { type Connection, clearRefusal } from './seal-request.ts'

/** A request has a JSON body, a form or none. */
export interface RequestOptions {
  readonly json?: unknown
  readonly form?: FormStream
  readonly signal?: AbortSignal
  /** The status of a refusal whose answer the caller wants to read. */
  readonly passing?: number
}

/** Requests whose envelope is in the clear and whose values are sealed. */
export interface ClearRequests {
  /** The answer of a successful request. The caller reads or cancels it. */
  raw(method: string, path: string, asking?: RequestOptions): Promise<Response>
  /** The data of the answer's envelope. */
  data<T>(method: string, path: string, asking?: RequestOptions): Promise<T>
}

/** A path whose parts may contain any character. */
export const pathFor = (texts: TemplateStringsArray, ...parts: readonly string[]): string =>
  String.raw(texts, ...parts.map(encodeURIComponent))

/** Both methods throw SealgateError for a refusal. An abort throws the signal's reason. */
export const clearRequests = ({ baseUrl, apiKey, fetch }: Connection): ClearRequests => {
  const raw: ClearRequests['raw'] = async (method, path, { json, form, signal, passing } = {}) => {
    const type = form?.type ?? (json === undefined ? null : 'application/json')
    const answer = await fetch(`${baseUrl}/${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(type && { 'content-type': type }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(form && (await bodyOf(form))),
      ...(signal && { signal }),
    }).catch((cause: unknown) => {
      // A failure while the body is made is no failure of the connection.
      const own = (cause as { cause?: unknown }).cause
      throw signal?.aborted
        ? signal.reason
        : own instanceof SealgateError
          ? own
          : new SealgateError('unreachable', { cause })
    })
    if (answer.ok || answer.status === passing) return answer
    await answer.body?.cancel()
    throw clearRefusal(answer)
  }
  return {
    raw,
    async data<T>(method: string, path: string, asking?: RequestOptions) {
      const answer = await raw(method, path, asking)
      const body = (await answer.json().catch(cutBy(asking?.signal ?? null))) as { data: T }
      return body.data
    },
  }
}

/** Browsers send no streams over HTTP/1.1. The form becomes a Blob there; browsers keep a large Blob on the disk. */
const bodyOf = async (form: FormStream): Promise<RequestInit> => {
  if (typeof document !== 'undefined')
    return { body: new Blob([(await joinedBytes(form.parts())) as Uint8Array<ArrayBuffer>]) }
  return { body: streamOf(form.parts()), duplex: 'half' } as RequestInit
}
