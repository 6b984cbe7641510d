/** A file to send. `open` runs twice for an upload: once to hash the content, once to seal it. */
export interface Source {
  readonly name: string
  readonly mime: string
  /** In bytes. */
  readonly size: number
  /** Each call begins at the first byte. Both readings must give the same bytes. */
  open(): AsyncIterable<Uint8Array>
}

/** A File, bytes with a name, or a source that can be opened twice. */
export type Sendable = Blob | Source | { readonly name: string; readonly mime?: string; readonly bytes: Uint8Array }

/** The type of a file whose sender names none. */
const unknown = 'application/octet-stream'

/** The name is `file` when a Blob has none. */
export const sourceOf = (data: Sendable): Source => {
  if (data instanceof Blob) {
    const name = (data as Partial<File>).name || 'file'
    return { name, mime: data.type || unknown, size: data.size, open: () => read(data.stream()) }
  }
  if ('open' in data) return data
  const { bytes } = data
  return { name: data.name, mime: data.mime ?? unknown, size: bytes.length, open: () => oneChunk(bytes) }
}

/** Bytes in memory as a stream of one part. */
export async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Some platforms cannot iterate their own streams. */
export async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

/** Parts as a stream that takes each when it is read. */
export const streamOf = (from: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await from.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await from.return(undefined)),
  })

/** Reports the number of bytes read so far. */
export async function* countedBytes(
  parts: AsyncIterable<Uint8Array>,
  told: ((bytes: number) => void) | undefined,
): AsyncGenerator<Uint8Array> {
  let sum = 0
  for await (const part of parts) {
    yield part
    told?.((sum += part.length))
  }
}

/** Joins all parts into one array. */
export const joinedBytes = async (parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  const whole = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of all) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
