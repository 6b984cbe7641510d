import { BlockList, isIP } from 'node:net'
import { BadRequest } from '../errors.ts'

/** Null when there is no list; throws when something on it is neither an address nor a CIDR range. */
export const listed = (addresses: readonly string[] | null): BlockList | null => {
  if (addresses === null) return null
  const list = new BlockList()
  for (const entry of addresses) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    const most = family === 'ipv6' ? 128 : 32
    const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
    if (isIP(address) === 0 || prefix < 0 || prefix > most) {
      throw new BadRequest('Validation failed', { validator: { addresses: 'Expected addresses or CIDR ranges' } })
    }
    list.addSubnet(address, prefix, family)
  }
  return list
}

/** Whether all that the one list admits is admitted by the other, entry by entry; null admits all. */
export const reaches = (own: readonly string[] | null, wanted: readonly string[] | null): boolean => {
  if (own === null) return true
  return wanted !== null && wanted.every((entry) => own.some((wider) => holds(wider, entry)))
}

const holds = (wider: string, entry: string): boolean => {
  const [address = '', bits] = entry.split('/')
  // A list also finds addresses of one family within the other, whose lengths say something else.
  if (isIP(wider.split('/')[0]!) !== isIP(address)) return false
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  const whole = family === 'ipv6' ? 128 : 32
  return Number(wider.split('/')[1] ?? whole) <= Number(bits ?? whole) && listed([wider])!.check(address, family)
}
