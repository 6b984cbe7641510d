import type { WaitingCall } from '../../../core/inference/metering/meter.ts'
import type { Ledger } from '../../../core/ports/ledger.ts'

/** Goes on with calls once their lines are kept: the lines of one turn of the loop are one write. */
export const keptCalls = (ledger: Ledger): ((call: WaitingCall) => void) => {
  let first: WaitingCall | null = null
  let last: WaitingCall | null = null
  const goOn = (): void => {
    ledger.keep()
    let call = first
    first = last = null
    while (call !== null) {
      const { next }: WaitingCall = call
      call.next = null
      call.kept()
      call = next
    }
  }
  return (call) => {
    if (last === null) {
      first = call
      setImmediate(goOn)
    } else last.next = call
    last = call
  }
}
