/**
 * Resolves with the first signal. True for SIGTERM: load balancers may need time to notice the end. A second signal ends
 * the process at once.
 */
export const onStopSignal = (): Promise<boolean> =>
  new Promise((resolve) => {
    const [term, int] = [() => told(true), () => told(false)]
    const told = (lingers: boolean) => {
      process.off('SIGTERM', term).off('SIGINT', int)
      resolve(lingers)
    }
    process.on('SIGTERM', term).on('SIGINT', int)
  })

/** Takes what answers each SIGHUP. */
export type OnHangUp = (act: () => void) => void

/** From now on no SIGHUP ends the process. Those that come before their answer is given count as one. */
export const holdHangUps = (): OnHangUp => {
  let isWaiting = false
  let act = (): void => void (isWaiting = true)
  process.on('SIGHUP', () => act())
  return (given) => {
    act = given
    if (isWaiting) act()
  }
}

/** For a process that is ended by another one: signals meant for that one reach the whole group. */
export const ignoreSignals = (process: NodeJS.Process): void => {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
}
