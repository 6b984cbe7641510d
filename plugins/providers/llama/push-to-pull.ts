/**
 * What some work tells piece by piece, to be read at the reader's own pace; its result comes last. The work begins with the
 * first read, and is stopped when the reader leaves early.
 */
export async function* pushToPull<T, R>(
  work: (tell: (piece: T) => void, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): AsyncGenerator<T, R> {
  const left = new AbortController()
  const pieces: T[] = []
  let wake = () => {}
  let over = false
  const tell = (piece: T) => {
    pieces.push(piece)
    wake()
  }
  const result = work(tell, AbortSignal.any([signal, left.signal])).finally(() => {
    over = true
    wake()
  })
  // A reader that stays learns of it at the end.
  result.catch(() => {})
  try {
    while (!over || pieces.length > 0) {
      yield* pieces.splice(0)
      if (!over && pieces.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    }
    return await result
  } finally {
    left.abort(new Error('The reader left'))
  }
}
