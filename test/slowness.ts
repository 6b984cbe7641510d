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

const fixedText = JSON.stringify(
  Array.from({ length: 400 }, (_, at) => ({ name: `n${at}`, list: [at * 1.5, `${at}`, null] })),
)
/** CPU ms of the fixed work on the machine on which bounds of work are set. */
const usualMs = 18

/** How many times its usual CPU a fixed piece of work takes: cores of a shared machine change their pace. Never less than 1. */
export const corePace = (): number => {
  const before = process.cpuUsage()
  for (let round = 0; round < 60; round++) JSON.stringify(JSON.parse(fixedText))
  const { user, system } = process.cpuUsage(before)
  return Math.max(1, (user + system) / 1000 / usualMs)
}
