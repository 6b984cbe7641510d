/** A call that waits until the ledger has kept its lines. */
export interface WaitingCall {
  /** The call behind it. A list in old memory would keep each call alive until the next full collection. */
  next: WaitingCall | null
  /** The lines are written, so the request or the end of the answer may go out. */
  kept(): void
}

/** Goes on with calls once their lines are kept: the lines of one turn of the loop are one write. */
export const keptCalls = (keep: () => void): ((call: WaitingCall) => void) => {
  let first: WaitingCall | null = null
  let last: WaitingCall | null = null
  const goOn = (): void => {
    keep()
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
