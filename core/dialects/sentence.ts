import type { GatewayError } from '../errors.ts'

/** The first field that is wrong is named in the sentence: not every dialect has another place for it. */
export const sentenceOf = ({ message, validator }: GatewayError): string => {
  const [first] = Object.entries(validator ?? {})
  return first === undefined ? message : `${message}: ${first[0]}: ${first[1]}`
}
