import { hkdfSync } from 'node:crypto'
import { bytesOf, open } from './literal-client.ts'

/** Events of a sealed answer, as they stand in its text. */
export interface Sent {
  readonly event: string
  readonly data: string
}

export const eventsIn = (text: string): readonly Sent[] =>
  text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const line = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      return { event: line('event') ?? 'data', data: line('data') ?? '' }
    })

/** The chunks of a sealed stream. Throws for a frame that does not open, stands elsewhere or comes behind the last one. */
export const chunksOf = (secret: Uint8Array, nonce: string, events: readonly Sent[]): readonly any[] => {
  const key = new Uint8Array(hkdfSync('sha256', secret, bytesOf(nonce), 'rvenc/1 s2c/stream', 32))
  const frames = events.filter(({ event }) => event === 'data').map(({ data }) => data)
  return frames.map((frame, at) => {
    const own = bytesOf(frame.slice(0, 48))
    const place = Buffer.from(own)
    const isLast = at === frames.length - 1
    if (place.readUInt32BE(19) !== at || place[23] !== (isLast ? 1 : 0)) throw new Error(`Frame ${at} is out of place`)
    return JSON.parse(new TextDecoder().decode(open(key, own, frame.slice(48))))
  })
}
