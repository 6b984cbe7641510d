import { deepEqual, equal } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import memory from '../../adapters/memory/cache.ts'
import { clock } from '../../adapters/memory/platform.ts'
import { use } from '../../core/plugin.ts'
import { Cache } from '../../core/ports/cache.ts'
import { made } from '../fitted.ts'
import { proof } from './contract.ts'

const long = 60_000

export const cache = proof({
  contract: {
    'gives back what was set': async (fresh: () => Promise<Cache>) => {
      const cache = await fresh()
      for (const value of [{ a: [1, { b: 'c' }], d: null }, 'text', 1.5, [], ['']]) {
        await cache.set('key', value, long)
        deepEqual(await cache.get('key'), value)
      }
    },
    'takes nothing for something': async (fresh) => {
      const cache = await fresh()
      for (const value of [0, '', false, null]) {
        await cache.set('key', value, long)
        equal(await cache.get('key'), value)
      }
    },
    'says undefined for what was never set': async (fresh) => {
      const cache = await fresh()
      await cache.set('key', 1, long)
      equal(await cache.get('other'), undefined)
    },
    'says undefined once the time is over': async (fresh) => {
      const cache = await fresh()
      await cache.set('key', 1, 30)
      await cache.set('long', 1, long)
      await sleep(40)
      equal(await cache.get('key'), undefined)
      equal(await cache.get('long'), 1)
    },
    'keeps nothing without time': async (fresh) => {
      const cache = await fresh()
      await cache.set('key', 1, long)
      await cache.set('key', 2, 0)
      equal(await cache.get('key'), undefined)
    },
    'the last set counts': async (fresh) => {
      const cache = await fresh()
      await cache.set('key', 1, long)
      await cache.set('key', 2, long)
      equal(await cache.get('key'), 2)
    },
    'setting again starts its time anew': async (fresh) => {
      const cache = await fresh()
      await cache.set('key', 1, 20)
      await cache.set('key', 1, long)
      await sleep(30)
      equal(await cache.get('key'), 1)
    },
    'removes, and removing twice is fine': async (fresh) => {
      const cache = await fresh()
      await cache.set('key', 1, long)
      await cache.set('other', 1, long)
      await cache.remove('key')
      await cache.remove('key')
      equal(await cache.get('key'), undefined)
      equal(await cache.get('other'), 1)
    },
    'keeps its own copy': async (fresh) => {
      const cache = await fresh()
      const mine = { a: 1 }
      await cache.set('key', mine, long)
      mine.a = 2
      const given = await cache.get<{ a: number }>('key')
      given!.a = 3
      deepEqual(await cache.get('key'), { a: 1 })
    },
  },
  right: () => made(Cache, use(memory), use(clock)),
  wrong: {
    'gives back what was set': (right) => ({ set: (key, value, ttl) => right.set(key, JSON.stringify(value), ttl) }),
    'takes nothing for something': (right) => ({
      get: async <T>(key: string) => (await right.get<T>(key)) || undefined,
    }),
    'says undefined for what was never set': (right) => ({
      get: async <T>(key: string) => (await right.get<T>(key)) ?? (null as T),
    }),
    'says undefined once the time is over': (right) => ({ set: (key, value) => right.set(key, value, long) }),
    'keeps nothing without time': (right) => ({ set: (key, value, ttl) => right.set(key, value, ttl || long) }),
    'the last set counts': (right) => ({
      set: async (key, value, ttl) => ((await right.get(key)) === undefined ? right.set(key, value, ttl) : undefined),
    }),
    'setting again starts its time anew': (right) => {
      const first = new Map<string, number>()
      return {
        async set(key, value, ttl) {
          if (!first.has(key)) first.set(key, ttl)
          await right.set(key, value, first.get(key)!)
        },
      }
    },
    'removes, and removing twice is fine': () => ({ remove: async () => {} }),
    'keeps its own copy': () => {
      const kept = new Map<string, unknown>()
      return {
        get: async <T>(key: string) => kept.get(key) as T | undefined,
        set: async (key, value) => void kept.set(key, value),
      }
    },
  },
})
