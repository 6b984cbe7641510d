import './fakes/unwatched.ts'
import t from 'tap'
import { type Kind, kinds } from './lab/hunt/file-kinds.ts'
import { huntEnclave } from './lab/hunt/hunt-enclave.ts'
import { huntParsers } from './lab/hunt/hunt-parsers.ts'
import { isWhole, sampled, seed } from './whole.ts'

const each = isWhole ? 20 : 2

t.test('damaged and inflated files are read or refused, and nothing else', async (t) => {
  t.comment(`SEALGATE_SEED=${seed}: ${each} files of each kind`)
  const found = []
  for await (const parser of huntParsers(each, seed, kinds)) found.push(parser)
  t.equal(found.length, kinds.length)
  t.same(
    found.flatMap(({ kind, wrong }) => wrong.map((text) => `${kind} ${text}`)),
    [],
  )
  t.ok(found.reduce((sum, { refused }) => sum + refused, 0) > kinds.length / 4, 'many of them are refused')
})

/** Pictures and sounds take an engine each, which has the same way through the enclave for all of them. */
const engines = new Set(['getFileContentOCR', 'audioDiarization'])
const hasEngine = ({ parser }: Kind): boolean => engines.has(parser.tool)

t.test('the enclave says of them only what it may, and stays the same process', async (t) => {
  const played = [...kinds.filter((kind) => !hasEngine(kind)), ...sampled(kinds.filter(hasEngine), 5)]
  t.comment(`SEALGATE_SEED=${seed}: ${played.length} of ${kinds.length} kinds`)
  const sealed = huntEnclave(1, seed, played)
  const wrong: string[] = []
  let next = await sealed.next()
  for (; !next.done; next = await sealed.next()) wrong.push(...next.value.wrong.map((text) => `${text}`))
  t.same(wrong, [])
  t.ok(next.value)
})
