/** By field: what the gateway expected there. The texts are public, so no received value stands in them. */
export type Validator = Readonly<Record<string, string>>

/** What a thrower knows beyond the public message. Absent and null mean the same. */
export interface Facts extends ErrorOptions {
  readonly validator?: Validator | null
  /** Milliseconds after which another try makes sense. */
  readonly retryAfter?: number | null
  /** A word by which programs tell the error from others of its status. */
  readonly code?: string | null
  /** Text for the caller alone, behind the message, such as a backend's own sentence. No log and no other caller gets it. */
  readonly told?: string | null
  /** True when `retryAfter` already differs among callers that wait at once. */
  readonly apart?: boolean
}

/**
 * Everything the gateway may say when something goes wrong. `message` is public and a constant at the
 * throw site; what happened goes into `cause`, which is logged (never its text) and never sent.
 */
export class GatewayError extends Error {
  readonly status: number = 503
  /** The expectation for each wrong field, never the received value. */
  readonly validator: Validator | null
  /** Ms, which answers round up to whole seconds in `Retry-After`. Null where no time is known, or none helps. */
  readonly retryAfter: number | null
  readonly code: string | null
  readonly told: string | null
  readonly apart: boolean

  constructor(message = 'Service temporarily unavailable', facts: Facts = {}) {
    super(message, facts)
    this.name = new.target.name
    this.validator = facts.validator ?? null
    this.retryAfter = facts.retryAfter ?? null
    this.code = facts.code ?? null
    this.told = facts.told ?? null
    this.apart = facts.apart ?? false
  }
}

/** The caller's own fault, status 400. The same request fails again, so clients must not repeat the request. */
export class BadRequest extends GatewayError {
  override readonly status = 400
}

/** The sealed request named an enclave key that is unknown or over: the client fetches the keys and seals anew. */
export class Expired extends BadRequest {}

/** What keeps a file from being read: it needs a password, or is of a form that has to be saved as a newer one. */
export type Flaw = 'password' | 'format'

const flaws: Readonly<Record<Flaw, string>> = { password: 'Expected none', format: 'Expected a newer one' }

/** What stands in a file is not what it should be, or is more than may be unpacked; `flaw` where it is known why. */
export class Unreadable extends BadRequest {
  readonly flaw: Flaw | null

  constructor({ flaw = null, ...rest }: Facts & { readonly flaw?: Flaw | null } = {}) {
    super('The file could not be read', flaw === null ? rest : { ...rest, validator: { [flaw]: flaws[flaw] } })
    this.flaw = flaw
  }
}

/** Nothing is there that could do it; `validator` names what to configure or to install. */
export class Unconfigured extends BadRequest {
  constructor(facts?: Facts) {
    super('This deployment is not set up for it', facts)
  }
}

/**
 * No usable credential, status 401. One message stands for every reason, so an attacker learns nothing about
 * keys.
 */
export class Unauthorized extends GatewayError {
  override readonly status = 401
  constructor(facts?: Facts) {
    super('Access token missing or invalid', facts)
  }
}

/** The credential is good and its powers are not enough, status 403. */
export class Forbidden extends GatewayError {
  override readonly status = 403
}

/** Status 404. A thing of another organisation also is not found, so its existence stays hidden. */
export class NotFound extends GatewayError {
  override readonly status = 404
}

/** The path takes other methods, status 405. */
export class WrongMethod extends GatewayError {
  override readonly status = 405
}

/** The head or the body came too slowly, status 408. The same request may well come through another time. */
export class TooSlow extends GatewayError {
  override readonly status = 408
}

/** Something that goes on excludes the request for now. */
export class Conflict extends GatewayError {
  override readonly status = 409
}

/** Said on the encrypted audio routes alone; elsewhere an oversized body is a BadRequest that names the limit. */
export class TooLarge extends GatewayError {
  override readonly status = 413
}

export interface TooManyFacts extends Facts {
  /** What is left, as headers tell it. */
  readonly headers?: Readonly<Record<string, string>>
  /** The limit as one of a few words, for metrics; `other` when absent. */
  readonly limit?: string
}

/** A limit of the caller or a full queue, status 429. `retryAfter` tells when to come back. */
export class TooMany extends GatewayError {
  override readonly status = 429
  readonly headers: Readonly<Record<string, string>>
  readonly limit: string
  constructor(message?: string, facts: TooManyFacts = {}) {
    super(message, facts)
    this.headers = facts.headers ?? {}
    this.limit = facts.limit ?? 'other'
  }
}

/** What the gateway knows about the failure of a backend or of another server that it called. */
export interface FailedFacts extends Facts {
  /** Whether the same call may succeed elsewhere or later. */
  readonly again?: boolean
  /** What the backend answered with, when it answered. */
  readonly answered?: number | null
  /** True where the model spoilt this one answer, which says nothing against the backend. */
  readonly backendWorks?: boolean
}

/** A backend or an issuer failed, or gave a bad answer: status 503 where time heals the fault, else 502. */
export class UpstreamFailed extends GatewayError {
  override readonly status: number
  readonly again: boolean
  readonly answered: number | null
  readonly backendWorks: boolean
  /** The backend that failed; null while no search has seen the fault. */
  attempted: { readonly backend: string; readonly model: string } | null = null
  constructor(message = 'Upstream service failed', facts: FailedFacts = {}) {
    super(message, facts)
    this.again = facts.again ?? false
    this.answered = facts.answered ?? null
    this.backendWorks = facts.backendWorks ?? false
    this.status = this.again && this.code === null && isPassing(this.answered) ? 503 : 502
  }
}

/** Whether time heals the fault: no answer, a broken or garbled one, or a status that passes. */
const isPassing = (answered: number | null): boolean =>
  answered === null || answered < 300 || answered >= 500 || [408, 425, 429].includes(answered)

/** The path speaks plain HTTP alone. */
export class HttpAlone extends GatewayError {
  override readonly status = 426
  constructor(facts?: Facts) {
    super('This path speaks plain HTTP alone', facts)
  }
}

/** A parser in front of the gateway read the body, status 500: the program that holds the gateway has to mend it. */
export class BodyTaken extends GatewayError {
  override readonly status = 500
  constructor() {
    super('Another reader took the body first: put the gateway before any body parser, such as express.json()')
  }
}

/** Carries a delay until the next try: a second, unless the thrower knows better. */
export class Unavailable extends GatewayError {
  constructor(message?: string, facts: Facts = {}) {
    super(message, { retryAfter: 1000, ...facts })
  }
}

/** A report looks at more rows than its time allows. */
export class Overdue extends Unavailable {
  constructor(facts: Facts = {}) {
    super('The report takes too long', { code: 'report_too_long', ...facts })
  }
}

/** The client left: nobody reads an answer, so none is written. */
export class Aborted extends GatewayError {
  constructor(facts?: Facts) {
    super('The client closed the request', facts)
  }
}

/** A configuration is refused. The paths name settings and hold no value, so the log shows them. */
export class RefusedConfiguration extends Error {
  readonly paths: readonly string[]

  constructor(message: string, paths: readonly string[], options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.paths = paths
  }
}
