/** The sum of CRC-32 (ISO 3309), bit by bit, so that it shares nothing with what it checks. */
export const sumOf = (bytes: Uint8Array): number => {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0)
  }
  return (sum ^ 0xffffffff) >>> 0
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** One frame of Amazon's event stream; every header is a text. */
export const frame = (headers: Readonly<Record<string, string>>, payload: string): Buffer =>
  rawFrame(Buffer.concat(Object.entries(headers).map(([name, value]) => headerOf(name, value))), Buffer.from(payload))

const headerOf = (name: string, value: string): Buffer => {
  const size = Buffer.alloc(2)
  size.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([7]),
    size,
    Buffer.from(value),
  ])
}

/** A frame with right sums, whatever its headers are. */
export const rawFrame = (head: Buffer, body: Buffer): Buffer => {
  const prelude = Buffer.concat([uint32(12 + head.length + body.length + 4), uint32(head.length)])
  const whole = Buffer.concat([prelude, uint32(sumOf(prelude)), head, body])
  return Buffer.concat([whole, uint32(sumOf(whole))])
}

export const eventFrame = (type: string, payload: string): Buffer =>
  frame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload)

/** The frames of a recorded stream: a line for each, with its type and its payload. */
export const framesOf = (lines: Buffer): Buffer =>
  Buffer.concat(
    lines
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { type, exception, payload } = JSON.parse(line) as { type?: string; exception?: string; payload: unknown }
        const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
        if (type !== undefined) return eventFrame(type, text)
        return frame({ ':exception-type': exception!, ':message-type': 'exception' }, text)
      }),
  )

/** Events of the Messages dialect, each in a frame of its own. */
export const wrapped = (events: Buffer): Buffer =>
  Buffer.concat(
    [...events.toString().matchAll(/^data: ?(.*)$/gm)].map(([, data]) =>
      eventFrame('chunk', JSON.stringify({ bytes: Buffer.from(data!).toString('base64'), p: 'abcd' })),
    ),
  )
