import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { gatheredBytes } from '../../core/gathered-bytes.ts'

t.test('parts of any length come out as they came', async (t) => {
  for (const lengths of [[], [0], [1], [5_000, 1, 0, 4_095, 9_000_000, 3], Array(20_000).fill(1) as number[]]) {
    for (const expected of [null, lengths.reduce((sum, length) => sum + length, 0), 7]) {
      const gathered = gatheredBytes(expected)
      const parts = lengths.map((length, at) => Buffer.alloc(length, 1 + (at % 250)))
      for (const part of parts) gathered.add(part)
      const length = gathered.length
      const whole = gathered.whole()
      t.equal(length, whole.length)
      t.ok(whole.equals(Buffer.concat(parts)), `${lengths.length} parts, ${expected} expected`)
    }
  }
})

t.test('a part is copied: the memory that it came in is not kept', async (t) => {
  const gathered = gatheredBytes()
  const part = Buffer.from('abc')
  gathered.add(part)
  part.fill('x')
  t.equal(gathered.whole().toString(), 'abc')
})

t.test('a million parts of one byte take memory for their bytes alone', async (t) => {
  const gathered = gatheredBytes()
  const before = process.memoryUsage()
  const slab = Buffer.alloc(64 * 1024)
  let pieces = 0
  const plain = globalThis.Uint8Array
  globalThis.Uint8Array = new Proxy(plain, {
    construct: (made, given, by) => {
      pieces++
      return Reflect.construct(made, given, by) as Uint8Array
    },
  })
  t.teardown(() => (globalThis.Uint8Array = plain))
  for (let at = 0; at < 1_000_000; at++) gathered.add(slab.subarray(at % slab.length, (at % slab.length) + 1))
  const after = process.memoryUsage()
  const held = after.arrayBuffers - before.arrayBuffers
  globalThis.Uint8Array = plain
  t.ok(held < 4_000_000, `${held} bytes of buffers`)
  t.ok(pieces > 2 && pieces < 30, `${pieces} pieces of memory`)
  t.equal(gathered.whole().length, 1_000_000)
})

t.test('gathered bytes are free once nobody else has them', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const gathered = gatheredBytes()
  gathered.add(Buffer.alloc(1_000_000))
  const whole = new WeakRef(gathered.whole().buffer)
  await turn()
  collect()
  t.equal(whole.deref(), undefined)
  t.equal(gathered.length, 1_000_000)
})
