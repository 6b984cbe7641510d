import { SealgateError } from '../../plugins/sealed/client/error.ts'
import { GatewayError, Overdue, Unavailable } from '../../core/errors.ts'

/** The text of an error for the command line. */
export const errorText = (error: unknown): string => {
  if (error instanceof Overdue) return `${error.message}: fewer days (--from, --to) or one --organization take less`
  if (error instanceof Unavailable) return [error.message, reasonOf(error.cause)].filter(Boolean).join(' ')
  if (error instanceof GatewayError) return [error.message, ...Object.values(error.validator ?? {})].join(': ')
  if (error instanceof SealgateError) return [sentenceOf(error), factsOf(error)].filter(Boolean).join(' ')
  return error instanceof Error ? (optionFault(error) ?? error.message) : String(error)
}

/** An unknown option by its name; Node adds how an argument that begins with a dash is written, which confuses. */
const optionFault = ({ code, message }: NodeJS.ErrnoException): string | null => {
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return null
  const [, option = ''] = /^Unknown option '([^']+)'/.exec(message) ?? []
  return `there is no option ${option}; --help behind the command names them`
}

/** The text of a client's error, with the command line's flags in place of the client's settings. */
export const sentenceOf = ({ fault, message }: SealgateError): string =>
  fault === 'insecure'
    ? 'The enclave is a development one and proves nothing; --allow-insecure-dev uses it all the same'
    : message

/** What a client's error tells beside its sentence; empty when there is nothing more. */
const factsOf = ({ status, code, reason, detail }: SealgateError): string => {
  const facts = [status === null ? null : `status ${status}`, code, reason, detail].filter((fact) => fact !== null)
  return facts.length > 0 ? `(${facts.join(', ')})` : ''
}

/** The error code and address of a store that failed. The message is left out: it may quote data. */
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return ''
  const below = reasonOf(cause instanceof AggregateError ? cause.errors[0] : cause.cause)
  const { code, address, port } = cause as NodeJS.ErrnoException & { address?: string; port?: number }
  if (below !== '' || code === undefined) return below
  const kind = cause.constructor === Error ? [] : [cause.constructor.name]
  return `(${[...kind, code, ...(address === undefined ? [] : [`${address}:${port}`])].join(' ')})`
}

/** Ends the process with the number that the work gives, and with 2 where the work fails. */
export const endWith = async (work: Promise<number>): Promise<void> => {
  process.exitCode = await work.catch((error: unknown) => {
    process.stderr.write(`sealgate: ${errorText(error)}\n`)
    return 2
  })
}
