import type { Clock, Random } from './ports/host.ts'

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Version 7: sorts by time. */
export const uuid7 = (clock: Clock, random: Random): string => {
  const time = clock.now().toString(16).padStart(12, '0')
  const bytes = random.bytes(10)
  bytes[0] = (bytes[0]! & 0x0f) | 0x70
  bytes[2] = (bytes[2]! & 0x3f) | 0x80
  let tail = ''
  for (const byte of bytes) tail += hex[byte]
  return `${time.slice(0, 8)}-${time.slice(8)}-${tail.slice(0, 4)}-${tail.slice(4, 8)}-${tail.slice(8)}`
}
