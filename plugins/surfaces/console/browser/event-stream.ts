export interface StreamEvent {
  readonly event: string
  readonly data: string
}

/** Characters that one event may have. */
const longest = 4_000_000

const eventOf = (block: string): StreamEvent | null => {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice(7)
    else if (line.startsWith('data: ')) data.push(line.slice(6))
  }
  return data.length === 0 ? null : { event, data: data.join('\n') }
}

/** Server-sent events as the gateway writes them; comments are left out. */
export async function* eventsOf(body: ReadableStream<BufferSource>): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop() ?? ''
      if (rest.length > longest) throw new Error('An event is too long')
      for (const block of blocks) {
        const found = eventOf(block)
        if (found !== null) yield found
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
