import { BlockList, isIP } from 'node:net'
import { BadRequest } from '../errors.ts'

/** One entry of a list. An address without a prefix is a range of itself alone. */
interface Range {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly prefix: number
}

/** Throws when the entry is neither an address nor a CIDR range. */
export const rangeOf = (entry: string): Range => {
  const [address = '', bits] = entry.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  const most = family === 'ipv6' ? 128 : 32
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
  if (isIP(address) === 0 || prefix < 0 || prefix > most) {
    throw new BadRequest('Validation failed', { validator: { addresses: 'Expected addresses or CIDR ranges' } })
  }
  return { address, family, prefix }
}

/** All addresses of these ranges. */
export const listOf = (ranges: readonly Range[]): BlockList => {
  const list = new BlockList()
  for (const { address, family, prefix } of ranges) list.addSubnet(address, prefix, family)
  return list
}

/** Null when there is no list; throws when something on it is neither an address nor a CIDR range. */
export const blockListOf = (addresses: readonly string[] | null): BlockList | null =>
  addresses === null ? null : listOf(addresses.map(rangeOf))

/** Whether a text is an address or a range of addresses. */
export const isAddressRange = (text: string): boolean => {
  try {
    rangeOf(text)
    return true
  } catch {
    return false
  }
}
