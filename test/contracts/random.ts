import assert from 'node:assert/strict'
import { system } from '../../adapters/memory/platform.ts'
import type { Random } from '../../core/ports/platform.ts'
import { proof } from './contract.ts'

const many = (random: Random): number[] => Array.from({ length: 2000 }, () => random.fraction())

export const random = proof({
  contract: {
    'gives as many bytes as are asked': async (fresh: () => Promise<Random>) => {
      const random = await fresh()
      for (const length of [0, 1, 32, 100_000]) assert.equal(random.bytes(length).length, length)
    },
    'gives other bytes each time': async (fresh) => {
      const random = await fresh()
      const seen = Array.from({ length: 100 }, () => Buffer.from(random.bytes(16)).toString('hex'))
      assert.equal(new Set(seen).size, 100)
    },
    'bytes take every value': async (fresh) => {
      assert.equal(new Set((await fresh()).bytes(20_000)).size, 256)
    },
    'given bytes stay as they are': async (fresh) => {
      const random = await fresh()
      const given = random.bytes(32)
      const copy = given.slice()
      random.bytes(32)
      assert.deepEqual(given, copy)
    },
    'fractions lie between 0 and 1, 1 left out': async (fresh) => {
      assert.ok(
        many(await fresh()).every((value) => value >= 0 && value < 1),
        'all of them',
      )
    },
    'fractions spread over the whole': async (fresh) => {
      const tenths = new Set(many(await fresh()).map((value) => Math.floor(value * 10)))
      for (let tenth = 0; tenth < 10; tenth++) assert.ok(tenths.has(tenth), 'every tenth')
    },
  },
  right: () => system.random,
  wrong: {
    'gives as many bytes as are asked': ({ bytes }) => ({ bytes: (length) => bytes(Math.min(length, 65_536)) }),
    'gives other bytes each time': () => ({ bytes: (length) => Uint8Array.from({ length }, (_, i) => i * 167) }),
    'bytes take every value': ({ bytes }) => ({ bytes: (length) => bytes(length).map((value) => value & 127) }),
    'given bytes stay as they are': ({ bytes }) => {
      const pool = new Uint8Array(200_000)
      return {
        bytes(length) {
          pool.set(bytes(length))
          return pool.subarray(0, length)
        },
      }
    },
    'fractions lie between 0 and 1, 1 left out': ({ fraction }) => ({
      fraction: () => Math.ceil(fraction() * 100) / 100,
    }),
    'fractions spread over the whole': ({ fraction }) => ({ fraction: () => fraction() / 2 }),
  },
})
