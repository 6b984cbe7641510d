import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import type { OpenedRequest } from '../../../../plugins/sealed/enclave/open.ts'
import { openRows, sealRows } from '../../../../plugins/sealed/enclave/index-file.ts'
import { sealedFailure } from '../../../../plugins/sealed/enclave/reply.ts'
import { runTool } from '../../../../plugins/sealed/enclave/tool.ts'
import { namedKey } from '../../../../plugins/sealed/wire/binding.ts'
import { concat, fromHex, toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { openContent, sealContent, sealLabel, sealWhole, sealedLength } from '../../../../plugins/sealed/wire/file.ts'
import { openJson } from '../../../../plugins/sealed/wire/seal.ts'
import { NotFound, Unavailable, Unreadable, UpstreamFailed } from '../../../../core/errors.ts'
import type { EnclaveFiles } from '../../../../core/ports/enclave.ts'
import type { Tool } from '../../../../core/ports/tool.ts'
import { atOnce } from '../../../../plugins/shared/work-in-turns.ts'
import { turnsDuring } from '../../../turns-during.ts'

const never = new AbortController().signal
const secret = new Uint8Array(32).fill(5)
const dek = new Uint8Array(32).fill(7)
const plain = new TextEncoder().encode('The ferry leaves at twelve.')

const openedWith = (
  params: object = {},
  parts: OpenedRequest['parts'] = {},
  named: string | null = 'tools/t',
): OpenedRequest => ({
  params: params as OpenedRequest['params'],
  secret,
  receipt: null,
  nonce: new Uint8Array(24),
  named,
  parts,
})

async function* once(bytes: Uint8Array) {
  yield bytes
}
const gathered = async (parts: AsyncIterable<Uint8Array>) => {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return concat(...all)
}

const said = (reply: Awaited<ReturnType<typeof runTool>>): any => {
  if (reply.kind !== 'body') throw new Error('Expected a body')
  const { encryptedResponse, nonce } = reply.body as { encryptedResponse: string; nonce: string }
  return openJson(secret, fromHex(nonce, 24)!, fromHex(encryptedResponse, 1 << 26)!)
}

const content = await gathered(sealContent(dek, once(plain)))
const hash = createHash('sha256').update(content).digest()
const record = {
  version: '2',
  name: toHex(sealLabel(dek, 'name', 'a.txt')),
  mime: toHex(sealLabel(dek, 'mime', 'text/plain')),
  size: content.length,
}

/** The files of a caller with one file; each test makes one thing of it wrong. */
const bench = (more: Partial<EnclaveFiles> = {}, mostFile = 1000) => {
  let held = 0
  let kept: Uint8Array | null = null
  const enclaveFiles = {
    file: async (id: string) => (id === 'file_1' ? record : null),
    content: async () => once(content),
    async keep(_: unknown, bytes: AsyncIterable<Uint8Array>) {
      kept = await gathered(bytes)
      return { fileId: 'file_2', size: kept.length, path: 'p' }
    },
    ...more,
  } as unknown as EnclaveFiles
  const makeRoom = async (size: number) => {
    held += size
    return () => void (held -= size)
  }
  return { enclaveFiles, search: async () => [], mostFile, makeRoom, held: () => held, kept: () => kept }
}

const simple = (result: unknown): Tool => ({
  kind: 'simple',
  name: 't',
  description: '',
  params: v.object({}),
  run: async () => result,
})
const reading: Tool<any> = {
  kind: 'reads-file',
  name: 't',
  description: '',
  params: v.object({ fileId: v.string() }),
  run: async (_, __, { name, bytes }) => ({ name, text: Buffer.from(bytes).toString() }),
}

t.test('a result is sealed for its caller, and says of which route it is where that was asked', async (t) => {
  const run = (named: string | null, result: unknown) =>
    runTool(openedWith({}, {}, named), {}, simple(result), bench(), never)
  t.same(said(await run('tools/t', { a: 'é' })), { $for: 'tools/t', $status: 'result', value: { a: 'é' } })
  t.same(said(await run(null, { a: 1 })), { a: 1 })
  t.same(said(await run(null, undefined)), null)
})

t.test('a result is measured in bytes', async (t) => {
  const most = 16 * 1024 * 1024
  const euros = '€'.repeat(most / 3 + 1)
  await t.rejects(runTool(openedWith(), {}, simple(euros), bench(), never), { code: 'too_large' })
  t.ok(await runTool(openedWith(), {}, simple('x'.repeat(most - 2)), bench(), never), 'a result of the limit')
  await t.rejects(runTool(openedWith(), {}, simple('x'.repeat(most - 1)), bench(), never), { code: 'too_large' })
})

t.test('others have their turns while the JSON of a long result is made', async (t) => {
  const cells = Array.from({ length: 200_000 }, (_, at) => at)
  const turns = await turnsDuring(() => runTool(openedWith(), {}, simple(cells), bench(), never))
  t.ok(turns >= 100, `${turns} turns`)
})

const read = (t: Test, key: Uint8Array, enclaveFiles: Partial<EnclaveFiles> = {}, most = 1000, id = 'file_1') => {
  const desk = bench(enclaveFiles, most)
  return runTool(openedWith({ fileId: id }, { encryptedFileDek: key }), {}, reading, desk, never).finally(() =>
    t.equal(desk.held(), 0, 'room is given back'),
  )
}

t.test('others have their turns between the parts of a stored file', async (t) => {
  const stored = { size: content.length, hash }
  const parts = async function* () {
    for (const byte of content) yield Uint8Array.of(byte)
  }
  for (const key of [dek, namedKey(dek, 'file_1', stored)]) {
    const turns = await turnsDuring(() => read(t, key, { content: async () => parts() }))
    t.ok(turns >= content.length, `${turns} turns`)
  }
})

t.test('a tool reads the file that its caller vouches for', async (t) => {
  const stored = { size: content.length, hash }
  t.match(said(await read(t, namedKey(dek, 'file_1', stored))), { value: { name: 'a.txt', text: /ferry/ } })
  t.match(said(await read(t, dek)), { value: { name: 'a.txt' } }, 'or a file that nobody vouches for')
  const unreadable = { code: 'unreadable_file' }
  const other = await gathered(sealContent(dek, once(plain)))
  await t.rejects(
    read(t, namedKey(dek, 'file_1', stored), { content: async () => once(other) }),
    unreadable,
    'other bytes',
  )
  await t.rejects(read(t, namedKey(dek, 'file_1', { ...stored, size: stored.size + 1 })), unreadable, 'another size')
  await t.rejects(read(t, namedKey(dek, 'file_2', stored)), { code: 'invalid_parameters' }, 'a key for another file')
  await t.rejects(read(t, new Uint8Array(32)), unreadable, 'another key')
  await t.rejects(read(t, dek, {}, content.length - 1), unreadable, 'more than may be opened')
  await t.rejects(read(t, dek, {}, 1000, 'file_9'), { code: 'unknown_file' })
  const longer = async () => once(concat(content, new Uint8Array(1)))
  await t.rejects(read(t, dek, { content: longer }), unreadable, 'more than the record says')
  await t.rejects(read(t, dek, { content: async () => null }), unreadable)
  const first = sealWhole(dek, plain)
  const old = (bytes: Uint8Array): Partial<EnclaveFiles> => ({
    file: async () => ({ ...record, version: '1', size: first.length }),
    content: async () => once(bytes),
  })
  t.match(said(await read(t, dek, old(first))), { value: { text: /ferry/ } })
  await t.rejects(read(t, dek, old(concat(first, new Uint8Array(1)))), unreadable, 'of version 1 neither')
})

t.test('a tool makes a file under the key of its caller', async (t) => {
  const making: Tool = {
    kind: 'makes-file',
    name: 't',
    description: '',
    params: v.object({}),
    run: async () => ({ name: 'a.txt', mime: 'text/plain', bytes: plain }),
  }
  const desk = bench()
  const outer = { kid: 'k', wrappedDek: 'ab', fileId: 'file_2' }
  const reply = await runTool(openedWith({}, { encryptedFileDek: dek }), outer, making, desk, never)
  const kept = desk.kept()!
  t.equal(kept.length, sealedLength(plain.length))
  t.same(await gathered(openContent(dek, once(kept))), plain)
  t.match(said(reply), { value: { fileId: 'file_2', hash: createHash('sha256').update(kept).digest('hex') } })
  const quiet = await runTool(openedWith({}, { encryptedFileDek: dek }, null), outer, making, bench(), never)
  t.notMatch(quiet.kind === 'body' && quiet.body, { encryptedResponse: String })
})

t.test('a failure has only words of the catalogue', async (t) => {
  const asker = { secret, named: 'tools/t' }
  const codes: readonly (readonly [Error, number, string])[] = [
    [new Error('secret words'), 503, 'unavailable'],
    [new Unavailable('secret words'), 503, 'unavailable'],
    [new UpstreamFailed('secret words'), 502, 'upstream_failed'],
    [new NotFound('secret words'), 404, 'unknown_model'],
    [new Unreadable(), 400, 'unreadable_file'],
  ]
  for (const [error, status, code] of codes) {
    const reply = sealedFailure(asker, error)
    t.match(reply, { status }, code)
    t.notMatch(JSON.stringify(reply), /secret/)
    t.same(said(reply), { $for: 'tools/t', $status: 'failure', value: { code } })
  }
  const throwing: Tool = { ...simple(null), kind: 'simple', run: async () => Promise.reject(new NotFound('secret')) }
  await t.rejects(runTool(openedWith(), {}, throwing, bench(), never), { code: 'unknown_file' })
})

t.test('an index opens under its key, whole, and for its file alone', async (t) => {
  const rows = [0, 1, 2].map((page) => ({ text: `row ${page}`, heading: null, page, vector: null }))
  const index = await gathered(sealRows(dek, 'file_1', rows))
  t.same(atOnce(openRows(dek, 'file_1', index)), rows)
  t.equal(atOnce(openRows(dek, 'file_2', index)), null)
  t.equal(atOnce(openRows(secret, 'file_1', index)), null)
  t.equal(atOnce(openRows(dek, 'file_1', concat(index, new Uint8Array(1)))), null)
  t.equal(atOnce(openRows(dek, 'file_1', index.subarray(0, -1))), null)
  const each = (index.length - 4) / 3
  const [head, first, second, third] = [0, 4, 4 + each, 4 + 2 * each].map((at, nth) =>
    index.subarray(at, nth === 0 ? 4 : at + each),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array]
  t.equal(atOnce(openRows(dek, 'file_1', concat(head, second, first, third))), null, 'in its order')
  t.equal(atOnce(openRows(dek, 'file_1', concat(Uint8Array.of(0, 0, 0, 2), first, second))), null, 'with all its rows')
})
