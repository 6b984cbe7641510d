import type { GatewayError } from '../errors.ts'

/** Not every dialect has another place for what a backend said, or for the first field that is wrong. */
export const sentenceOf = ({ message, validator, told }: GatewayError): string => {
  if (told !== null) return `${message}: ${told}`
  const [first] = Object.entries(validator ?? {})
  return first === undefined ? message : `${message}: ${first[0]}: ${first[1]}`
}
