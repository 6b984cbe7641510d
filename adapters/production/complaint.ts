import { SealgateError } from '../../core/client/error.ts'
import { GatewayError } from '../../core/errors.ts'

/** What went wrong, in the words of the command line. */
export const complaint = (error: unknown): string => {
  if (error instanceof GatewayError) return [error.message, ...Object.values(error.validator ?? {})].join(': ')
  if (error instanceof SealgateError) return [sentenceOf(error), factsOf(error)].filter(Boolean).join(' ')
  return error instanceof Error ? error.message : String(error)
}

/** A client's error where settings are flags. */
export const sentenceOf = ({ fault, message }: SealgateError): string =>
  fault === 'insecure'
    ? 'The enclave is a development one and proves nothing; --allow-insecure-dev uses it all the same'
    : message

const factsOf = ({ status, code }: SealgateError): string => {
  const facts = [status === null ? null : `status ${status}`, code].filter((it) => it !== null)
  return facts.length > 0 ? `(${facts.join(', ')})` : ''
}
