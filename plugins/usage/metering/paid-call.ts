import type { Caller } from '../../../core/access/caller.ts'
import type { Consumption, Mode } from '../../../core/inference/metering/consumption.ts'
import type { BilledModel } from '../../../core/inference/metering/meter.ts'
import type { RequestRecord } from '../../../core/ports/observer.ts'
import type { Charge } from '../../../core/ports/rate-limiter.ts'
import type { Quota } from '../quotas/port.ts'
import type { Budget } from './budgets.ts'
import type { ModelWindows } from './model-windows.ts'

/** What a call is paid with. */
export interface Payment {
  /** Of tokens or seconds. */
  readonly work: readonly Charge[]
  readonly budgets: readonly Budget[]
  readonly quotas: readonly Quota[]
  /** All of it: of the work, then of the budgets, then of the quotas. */
  readonly charges: readonly Charge[]
  /** What the call may use, as it is charged for. */
  readonly used: Consumption
}

/** One call to be paid. A null entry is a sealed call, whose model is known only afterwards. */
export interface Call<Truth> {
  readonly caller: Caller
  readonly entry: BilledModel | null
  readonly mode: Mode
  readonly guess: Truth
  /** Whom the caller answers. */
  readonly user?: string | undefined
  /** The models that a sealed call may ask for; absent where no budget holds. */
  readonly sealed?: readonly BilledModel[]
  /** Windows of single models, of a sealed call where there are any. */
  readonly windows?: ModelWindows
  /** True for calls that were answered before: windows of tokens and requests are not theirs. */
  readonly isPast?: boolean
  /** True where the caller keeps the ledger's lines by itself. */
  readonly keepsLater?: boolean
  readonly record: RequestRecord | undefined
}

/** A call before its model is looked at. */
export type AskedCall<Truth> = Pick<Call<Truth>, 'caller' | 'guess' | 'user' | 'record'>
