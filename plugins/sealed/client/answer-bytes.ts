import { cutBy } from './error.ts'

/** Ms in which an answer whose last frame has come may end. */
const endMs = 1_000

/** Reads what stands behind the last frame. Its connection serves again then, and its call is no longer under way. */
const readOut = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> => {
  const late = setTimeout(() => void reader.cancel().catch(() => undefined), endMs)
  try {
    while (!(await reader.read()).done) continue
  } finally {
    clearTimeout(late)
  }
}

/** A reader that stops early cancels the connection, and the call with it, unless the answer is whole. */
export async function* bytesOf(
  answer: Response,
  signal: AbortSignal | null,
  isWhole = () => false,
): AsyncGenerator<Uint8Array> {
  const reader = answer.body!.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(cutBy(signal))
      if (done) return
      yield value
    }
  } finally {
    if (isWhole()) await readOut(reader).catch(() => undefined)
    await reader.cancel().catch(() => undefined)
  }
}
