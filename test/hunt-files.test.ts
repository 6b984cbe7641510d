import './fakes/unwatched.ts'
import t from 'tap'
import { huntEnclave, huntParsers } from './hunt/hunt-files.ts'
import { kinds } from './hunt/file-kinds.ts'

t.test('damaged and inflated files are read or refused, and nothing else', async (t) => {
  const found = []
  for await (const it of huntParsers(1, 7)) found.push(it)
  t.equal(found.length, kinds.length)
  t.same(
    found.flatMap(({ kind, wrong }) => wrong.map((it) => `${kind} ${it}`)),
    [],
  )
  t.ok(found.reduce((sum, { refused }) => sum + refused, 0) > kinds.length / 4, 'many of them are refused')
})

t.test('the enclave says of them only what it may, and stays the same process', async (t) => {
  const sealed = huntEnclave(1, 7)
  const wrong: string[] = []
  let next = await sealed.next()
  for (; !next.done; next = await sealed.next()) wrong.push(...next.value.wrong.map((it) => `${it}`))
  t.same(wrong, [])
  t.ok(next.value)
})
