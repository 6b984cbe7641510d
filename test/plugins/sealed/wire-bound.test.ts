import { readFile } from 'node:fs/promises'
import t from 'tap'
import {
  type BoundFacts,
  boundKey,
  isBoundKey,
  isMarked,
  markedId,
  namedKey,
  openBinding,
  printBinding,
  readNamedKey,
} from '../../../plugins/sealed/wire/binding.ts'
import { checks } from '../../../plugins/sealed/wire/body.ts'
import { textOf, fromHex, toHex } from '../../../plugins/sealed/wire/bytes.ts'
import { fileBindKey, fileMarkKey } from '../../../plugins/sealed/wire/schedule.ts'

const vectors = JSON.parse(await readFile('test/vectors/bound.json', 'utf8'))
const hex = (text: string): Uint8Array => fromHex(text, 1 << 20)!

t.test('ids that bear a mark', (t) => {
  const { kek, valid, not_marked, not_marked_under } = vectors.marks
  const key = fileMarkKey(hex(kek))
  for (const { now, random, id } of valid) {
    t.equal(markedId(key, now, hex(random)), id)
    t.ok(isMarked(key, id), id)
    t.notOk(isMarked(fileMarkKey(hex(not_marked_under)), id), 'under another KEK')
  }
  for (const id of not_marked) t.notOk(isMarked(key, id), id)
  t.ok(isMarked(key, markedId(key, Date.now())), 'a fresh one')
  t.end()
})

t.test('keys that say that their file is bound', (t) => {
  const { valid, not_bound } = vectors.keys
  for (const { random, key } of valid) {
    t.equal(toHex(boundKey(hex(random))), key)
    t.ok(isBoundKey(hex(key)))
  }
  for (const key of not_bound) t.notOk(isBoundKey(hex(key)), key)
  t.ok(isBoundKey(boundKey()), 'a fresh one')
  t.end()
})

const factsOf = (vector: any): BoundFacts => ({ ...vector, wrappedDek: hex(vector.wrapped_dek) })

t.test('bindings', (t) => {
  const { kek, valid, refused, refused_under } = vectors.bindings
  const key = fileBindKey(hex(kek))
  for (const vector of valid) {
    const shown = {
      revision: vector.revision,
      hash: hex(vector.hash),
      clientHash: vector.client_hash === null ? null : hex(vector.client_hash),
    }
    t.equal(toHex(printBinding(key, factsOf(vector), shown)), vector.binding)
    t.same(openBinding(key, factsOf(vector), hex(vector.binding)), shown)
    t.equal(
      openBinding(fileBindKey(hex(refused_under)), factsOf(vector), hex(vector.binding)),
      null,
      'under another KEK',
    )
  }
  for (const vector of refused) t.equal(openBinding(key, factsOf(vector), hex(vector.binding)), null, vector.comment)
  t.end()
})

t.test('a key for the enclave names its file and content', (t) => {
  const { valid, refused } = vectors.parts
  for (const { part, key, id, stored } of valid) {
    const facts = stored && { size: stored.size, hash: hex(stored.hash) }
    t.equal(toHex(namedKey(hex(key), id, facts)), part)
    const read = readNamedKey(hex(part))!
    t.same([toHex(read.key), textOf(read.name), read.stored], [key, id, facts])
    t.equal(checks.key(`${part}${'00'.repeat(16)}`), null, 'a field holds it, sealed')
  }
  for (const part of refused) t.equal(readNamedKey(hex(part)), null, part)
  t.end()
})
