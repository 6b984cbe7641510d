/** CPU ms of one measurement. */
const enough = 20

/** How many times its CPU a piece of work takes on this machine just now: 1 on a quiet one, and never less. */
export const slowness = (): number => {
  const [began, before] = [performance.now(), process.cpuUsage()]
  for (;;) {
    const { user, system } = process.cpuUsage(before)
    const cpu = (user + system) / 1000
    if (cpu >= enough) return Math.max(1, (performance.now() - began) / cpu)
  }
}

/** Starts a clock. It tells the ms since then that a quiet machine would have taken: a limit in ms then holds on a busy one. */
export const quietClock = (): (() => number) => {
  const [began, before] = [performance.now(), slowness()]
  return () => {
    const ms = performance.now() - began
    return ms / Math.max(before, slowness())
  }
}
