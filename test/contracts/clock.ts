import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { system } from '../../adapters/memory/platform.ts'
import type { Clock } from '../../core/ports/platform.ts'
import { proof } from './contract.ts'

// Timers may fire a millisecond early.
const early = 2

export const clock = proof({
  contract: {
    'tells milliseconds since the epoch': async (fresh: () => Promise<Clock>) => {
      assert.ok(Math.abs((await fresh()).now() - Date.now()) < 1000, 'near the time of this machine')
    },
    'goes on': async (fresh) => {
      const clock = await fresh()
      const from = clock.now()
      await wait(20)
      const gone = clock.now() - from
      assert.ok(gone >= 20 - early && gone < 2000, 'as time does')
    },
    'sleeps as long as it is told': async (fresh) => {
      const clock = await fresh()
      // Timers end in their order, however busy the machine is.
      const order: string[] = []
      const sleeps = (name: string, asleep: Promise<unknown>) => asleep.then(() => order.push(name))
      await Promise.all([
        sleeps('shorter', wait(40)),
        sleeps('this clock', clock.sleep(60)),
        sleeps('longer', wait(300)),
      ])
      assert.deepEqual(order, ['shorter', 'this clock', 'longer'], 'about that long')
    },
    'a sleep ends with the reason of its signal': async (fresh) => {
      const clock = await fresh()
      const stop = new AbortController()
      const reason = new Error('enough')
      setTimeout(() => stop.abort(reason), 10)
      await assert.rejects(
        Promise.race([clock.sleep(3000, stop.signal), wait(500)]),
        (error) => error === reason,
        'at once',
      )
    },
    'does not fall asleep when the signal has fired': async (fresh) => {
      const clock = await fresh()
      const reason = new Error('enough')
      const asleep = clock.sleep(300, AbortSignal.abort(reason))
      await assert.rejects(Promise.race([asleep, wait(150)]), (error) => error === reason)
    },
    'a sleep longer than a timer can be does not end at once': async (fresh) => {
      const clock = await fresh()
      const stop = new AbortController()
      const asleep = clock.sleep(2 ** 40, stop.signal).then(
        () => 'woke',
        () => 'stopped',
      )
      await wait(20)
      stop.abort()
      assert.equal(await asleep, 'stopped')
    },
    'an alarm rings once': async (fresh) => {
      const clock = await fresh()
      let rings = 0
      const from = performance.now()
      let rang = 0
      const alarm = clock.alarm(20, () => {
        rings++
        rang = performance.now() - from
      })
      await wait(120)
      alarm.off()
      assert.equal(rings, 1)
      assert.ok(rang >= 20 - early, 'not before its time')
    },
    'an alarm put off begins its wait anew': async (fresh) => {
      const clock = await fresh()
      const ms = 80
      let rang: number | null = null
      const alarm = clock.alarm(ms, () => (rang = performance.now()))
      let last = performance.now()
      for (let times = 0; times < 20; times++) {
        await wait(10)
        if (rang !== null) break
        last = performance.now()
        alarm.again()
      }
      while (rang === null && performance.now() - last < 5000) await wait(5)
      alarm.off()
      assert.ok(rang !== null, 'it rings')
      // A process that stalls hears it late, and never early.
      assert.ok(rang - last >= ms - early, 'it waited the whole time')
    },
    'an alarm turned off does not ring, and putting it off does not wake it': async (fresh) => {
      const clock = await fresh()
      let rings = 0
      const alarm = clock.alarm(20, () => rings++)
      alarm.off()
      alarm.again()
      await wait(80)
      assert.equal(rings, 0)
    },
    'an alarm that has rung stays silent': async (fresh) => {
      const clock = await fresh()
      let rings = 0
      const alarm = clock.alarm(10, () => rings++)
      await wait(60)
      alarm.again()
      await wait(60)
      alarm.off()
      assert.equal(rings, 1)
    },
  },
  right: () => system.clock,
  wrong: {
    'tells milliseconds since the epoch': () => ({ now: () => performance.now() }),
    'goes on': ({ now }) => {
      const stopped = now()
      return { now: () => stopped }
    },
    'sleeps as long as it is told': ({ sleep }) => ({ sleep: (ms, signal) => sleep(ms / 2, signal) }),
    'a sleep ends with the reason of its signal': ({ sleep }) => ({
      sleep: (ms, signal) =>
        signal?.aborted
          ? sleep(ms, signal)
          : sleep(ms, signal).catch(() => {
              throw new Error('aborted')
            }),
    }),
    'does not fall asleep when the signal has fired': ({ sleep }) => ({
      sleep: (ms, signal) => sleep(ms, signal?.aborted ? undefined : signal),
    }),
    'a sleep longer than a timer can be does not end at once': ({ sleep }) => ({
      sleep: (ms, signal) => sleep(ms | 0, signal),
    }),
    'an alarm rings once': ({ alarm }) => ({
      alarm(ms, ring) {
        const twice = alarm(ms * 2, ring)
        const once = alarm(ms, ring)
        return {
          again: () => (once.again(), twice.again()),
          off: () => (once.off(), twice.off()),
        }
      },
    }),
    'an alarm put off begins its wait anew': ({ alarm }) => ({
      alarm: (ms, ring) => ({ ...alarm(ms, ring), again() {} }),
    }),
    'an alarm turned off does not ring, and putting it off does not wake it': ({ alarm }) => ({
      alarm(ms, ring) {
        let now = alarm(ms, ring)
        return {
          again() {
            now.off()
            now = alarm(ms, ring)
          },
          off: () => now.off(),
        }
      },
    }),
    'an alarm that has rung stays silent': ({ alarm }) => ({
      alarm(ms, ring) {
        let off = false
        let now = alarm(ms, ring)
        return {
          again() {
            now.off()
            if (!off) now = alarm(ms, ring)
          },
          off() {
            off = true
            now.off()
          },
        }
      },
    }),
  },
})
