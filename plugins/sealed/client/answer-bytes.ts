import { cutBy } from './error.ts'

/** A reader that stops early cancels the connection, and the call with it. */
export async function* bytesOf(answer: Response, signal: AbortSignal | null): AsyncGenerator<Uint8Array> {
  const reader = answer.body!.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(cutBy(signal))
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
