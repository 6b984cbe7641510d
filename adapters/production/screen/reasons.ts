import { GatewayError, UpstreamFailed } from '../../../core/errors.ts'
import { unverified } from '../../../core/inference/proven.ts'
import { refusalOf } from '../backends/refusal-of.ts'

/** Answers of a backend to the request for its models. */
const statuses: Readonly<Record<number, string>> = {
  401: 'the key was refused',
  402: 'the account has no credit',
  403: 'the key may not list models',
  404: 'no list of models is there; check baseUrl',
  429: 'too many requests',
}

/** Codes of the system, of Node and of undici; the operator reads the words first and the code behind them. */
const codes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  ENOTFOUND: 'the host is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host is out of reach',
  ENETUNREACH: 'the network is out of reach',
  ENOENT: 'the socket is not there',
  ETIMEDOUT: 'no answer in time',
  NOAUTH: 'a password is needed',
  WRONGPASS: 'the password was refused',
  MODULE_NOT_FOUND: 'a package that it needs was left out',
  ERR_MODULE_NOT_FOUND: 'a package that it needs was left out',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_INVALID_ARG: 'its key or address has a character that no request may have',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is of an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is of another host',
}

/** The innermost code of an error and its causes. */
const codeOf = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null
  const below = codeOf(error instanceof AggregateError ? error.errors[0] : error.cause)
  if (below !== null) return below
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : null
}

/** AbortSignal.timeout gives the first name, and a library that aborts for it gives the second. */
const isTimeout = (fault: unknown): boolean =>
  fault instanceof Error && ['TimeoutError', 'AbortError'].includes(fault.name)

/** The fault of a backend whose address is this gateway's own. */
export const itself = new Error('The backend is this gateway')

/** The reason why a backend or store is unreachable, in words for an operator. No word comes from the other side. */
export const reasonOf = (fault: unknown): string => {
  if (fault === itself) return 'it is this gateway itself, so its calls come back; mend baseUrl'
  if (isTimeout(fault)) return 'no answer in time'
  const unproven = fault instanceof UpstreamFailed && fault.code === unverified
  const refusal = unproven ? refusalOf(fault.cause) : null
  if (refusal !== null) return `its evidence is refused (${refusal})`
  const status = fault instanceof UpstreamFailed ? fault.answered : null
  if (status !== null)
    return `${status}, ${statuses[status] ?? (status >= 500 ? 'it has a fault' : 'not a list of models')}`
  const code = codeOf(fault)
  if (code !== null) return `${codes[code] ?? 'it failed'} (${code})`
  if (unproven) return 'it gave no evidence'
  return fault instanceof GatewayError ? 'it gave no answer' : 'it failed'
}
