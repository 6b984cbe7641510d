import { createHook } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** Loaded into a process before its program: it tells what the program has used, and asks for nothing itself. */
let promises = 0
const hook = createHook({
  init(_, type) {
    if (type === 'PROMISE') promises++
  },
})

/** Reads and writes of files and sockets, as the kernel counts them. */
const systemCalls = (): number =>
  [...readFileSync('/proc/self/io', 'utf8').matchAll(/^sysc[rw]: (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )

/** Collections of garbage so far: bytes that were collected can't be counted. */
let collections = 0
const observer = new PerformanceObserver((list) => void (collections += list.getEntries().length))
observer.observe({ entryTypes: ['gc'] })

process.on('message', async (question) => {
  if (question === 'hook') hook.enable()
  if (question === 'unhook') hook.disable()
  if (question === 'collect') globalThis.gc?.()
  // The observer is told of a collection in a later turn of the loop.
  await sleep(20)
  collections += observer.takeRecords().length
  process.send!({ promises, systemCalls: systemCalls(), bytes: process.memoryUsage().heapUsed, collections })
})
process.channel?.unref()
