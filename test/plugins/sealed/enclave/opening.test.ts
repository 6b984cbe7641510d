import t, { type Test } from 'tap'
import { Epochs } from '../../../../plugins/sealed/enclave/epochs.ts'
import { type OuterFields, SealedRefusal, requestOpener } from '../../../../plugins/sealed/enclave/open.ts'
import { keyOf } from '../../../../plugins/sealed/enclave/open-stored-file.ts'
import { replayTables } from '../../../../plugins/sealed/enclave/replay.ts'
import { indexRequest } from '../../../../plugins/sealed/enclave/index-request.ts'
import { outerOf } from '../../../../plugins/sealed/enclave/tool.ts'
import { namedKey } from '../../../../plugins/sealed/wire/binding.ts'
import { checks } from '../../../../plugins/sealed/wire/body.ts'
import { padded, utf8, toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { type Kem, encapsulate, kems } from '../../../../plugins/sealed/wire/kem.ts'
import { type EnclaveKey, enclaveKid, newest } from '../../../../plugins/sealed/wire/keyset.ts'
import { seal } from '../../../../plugins/sealed/wire/seal.ts'
import { loopTime, usualTime } from '../../../../core/dialects/loop-time.ts'
import { fakeClock } from '../../../fakes/clock.ts'
import { turnsDuring } from '../../../turns-during.ts'

const hour = 3_600_000
/** An error, as far as a test tells it. */
const thrown = (facts: object) => ({ name: /./, ...facts })
const route = 'rvenc/chat/completions'
const outer: OuterFields = {
  cipherText: { field: 'cipherText', check: checks.cipherText },
  params: { field: 'encryptedInference', nonce: 'nonce' },
  parts: {},
  kid: 'enclaveKid',
}
const keyed: OuterFields = { ...outer, parts: { encryptedFileDek: { nonce: 'fileNonce', check: checks.key } } }

const house = ({ allowed = ['x-wing', 'x25519'] as readonly Kem['name'][], requireBinding = true } = {}) => {
  const clock = fakeClock()
  const epochs = new Epochs(clock, { length: hour, kems: allowed, releaseDigest: new Uint8Array(32) })
  const keyFor = (name: Kem['name'] = 'x25519', at = 0): EnclaveKey =>
    epochs.keyset().keys.filter(({ kem }) => kem === kems.find((kem) => kem.name === name)!.id)[at]!
  return { clock, epochs, keyFor, open: requestOpener(epochs, requireBinding) }
}

const nonceOf = (byte: number) => new Uint8Array(24).fill(byte)

/** A request that is right; each test makes one thing of it wrong. */
const sealedTo = (key: EnclaveKey, json: object | string, parts: readonly Uint8Array[] = []) => {
  const kem = kems.find(({ id }) => id === key.kem)!
  const { cipherText, sharedSecret } = encapsulate(kem, key.publicKey)
  const text = typeof json === 'string' ? json : JSON.stringify(json)
  const [own] = parts
  return {
    cipherText: toHex(cipherText),
    encryptedInference: toHex(seal(sharedSecret, nonceOf(1), padded(utf8(text), 256))),
    nonce: toHex(nonceOf(1)),
    enclaveKid: enclaveKid(key),
    ...(own && { encryptedFileDek: toHex(seal(sharedSecret, nonceOf(2), own)), fileNonce: toHex(nonceOf(2)) }),
  }
}

const part = new Uint8Array(32)
const bound = { $for: route, model: 'm' }
const undecryptable = { name: 'BadRequest', message: 'The request could not be decrypted' }

t.test('a valid request opens, without the fields that bind it', async (t) => {
  const { keyFor, open } = house()
  for (const kem of ['x-wing', 'x25519'] as const) {
    const scene = await open(route, outer, sealedTo(keyFor(kem), { ...bound, $id: kem, $status: true }))
    t.same([scene.params, scene.named], [{ model: 'm' }, route], kem)
  }
  const quiet = await open(route, outer, sealedTo(keyFor(), { ...bound, $status: 'true' }))
  t.equal(quiet.named, null, 'the status is told to clients that ask for it alone')
})

t.test('a request of another route is refused under its own seal', async (t) => {
  const { keyFor, open } = house()
  const elsewhere = await open('tools/getTime', outer, sealedTo(keyFor(), bound)).catch((error: unknown) => error)
  t.ok(elsewhere instanceof SealedRefusal)
  t.match(elsewhere, { code: 'sealed_elsewhere' })
  await t.rejects(open(route, outer, sealedTo(keyFor(), { model: 'm' })), { code: 'sealed_elsewhere' })
  const lenient = house({ requireBinding: false })
  t.ok(await lenient.open(route, outer, sealedTo(lenient.keyFor(), { model: 'm' })), 'where no binding is required')
  const named = sealedTo(lenient.keyFor(), { ...bound, $for: 'other' })
  await t.rejects(lenient.open(route, outer, named), { code: 'sealed_elsewhere' })
})

t.test('a request is opened once', async (t) => {
  const { keyFor, open, epochs, clock } = house()
  const request = sealedTo(keyFor(), bound)
  t.ok(await open(route, outer, request))
  await t.rejects(open(route, outer, request), undecryptable)
  await open(route, outer, sealedTo(keyFor(), { ...bound, $id: 'abcd' }))
  await t.rejects(open(route, outer, sealedTo(keyFor(), { ...bound, $id: 'abcd' })), undecryptable, 'nor sealed anew')
  const elsewhere = sealedTo(keyFor(), { ...bound, $for: 'other' })
  await t.rejects(open(route, outer, elsewhere), { code: 'sealed_elsewhere' })
  await t.rejects(open(route, outer, elsewhere), undecryptable, 'a refused request neither')
  await clock.pass(hour - 60_000)
  const next = epochs.keyset().keys.find(({ notBefore }) => notBefore > clock.now())!
  await t.rejects(
    open(route, outer, sealedTo(next, { ...bound, $id: 'abcd' })),
    undecryptable,
    'nor under the next key',
  )
})

t.test('an id of a request is the same in either case, and an empty one names no request', async (t) => {
  const { keyFor, open } = house()
  const sent = ($id: unknown) => open(route, outer, sealedTo(keyFor(), { ...bound, $id }))
  for (const id of ['', '', null, null]) t.ok(await sent(id), 'a request without a name')
  t.ok(await sent('abcd'))
  await t.rejects(sent('ABCD'), undecryptable, 'hex is entered as bytes')
  t.ok(await sent('order a'))
  t.ok(await sent('order A'), 'other text is entered as it stands')
})

t.test('a refusal of the outer fields names all that are wrong, and no more than twenty', async (t) => {
  const { keyFor, open } = house()
  const wrong = { nonce: 'zz', enclaveKid: '00', fileNonce: 7 }
  await t.rejects(open(route, keyed, { ...sealedTo(keyFor(), bound, [part]), ...wrong }), {
    message: 'Validation failed',
    validator: { nonce: String, fileNonce: String, enclaveKid: String },
  })
  const many = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`key${at}`, { nonce: `n${at}`, check: checks.key }]),
  )
  const refused = await open(route, { ...outer, parts: many }, {}).catch((error: { validator: object }) => error)
  t.equal(Object.keys((refused as { validator: object }).validator).length, 20)
})

t.test('a request that names no key has null there, or nothing', async (t) => {
  const { keyFor, open } = house()
  for (const enclaveKid of [null, undefined])
    t.ok(await open(route, outer, { ...sealedTo(keyFor(), bound), enclaveKid }), String(enclaveKid))
})

const refusals = async (t: Test, outer: OuterFields, right: object, wrong: Readonly<Record<string, object>>) => {
  const { keyFor, open } = house()
  t.ok(await open(route, outer, { ...sealedTo(keyFor(), bound, [part]), ...right }))
  for (const [what, change] of Object.entries(wrong))
    await t.rejects(
      open(route, outer, { ...sealedTo(keyFor(), bound, [part]), ...change }),
      thrown({ status: 400 }),
      what,
    )
}

t.test('a request with one wrong thing is refused', async (t) => {
  await refusals(
    t,
    keyed,
    {},
    {
      'another kid': { enclaveKid: '00'.repeat(8) },
      'a nonce of another length': { nonce: '01'.repeat(23) },
      'a part under the nonce of the parameters': { fileNonce: toHex(nonceOf(1)) },
      'a part that does not open': { encryptedFileDek: '00'.repeat(64) },
      'parameters that do not open': { encryptedInference: '00'.repeat(272) },
      'upper-case hex': { nonce: 'AB'.repeat(24) },
      'no ciphertext': { cipherText: undefined },
    },
  )
  const { keyFor, open } = house({ allowed: ['x-wing'] })
  const other = house()
  await t.rejects(open(route, outer, { ...sealedTo(other.keyFor('x25519'), bound), enclaveKid: undefined }), {
    message: 'This key encapsulation is switched off',
  })
  for (const text of ['[]', '"text"', 'null', '{"a":', '{"a":1}{}'])
    await t.rejects(open(route, outer, sealedTo(keyFor('x-wing'), text)), undecryptable, text)
})

t.test('sealed parameters are bounded', async (t) => {
  const { keyFor, open } = house()
  const most = { ...outer, mostParams: 512 }
  t.ok(await open(route, most, sealedTo(keyFor(), { ...bound, text: 'x'.repeat(450) })))
  const long = { ...bound, text: 'x'.repeat(480) }
  await t.rejects(
    open(route, most, sealedTo(keyFor(), long)),
    thrown({ code: 'invalid_parameters', asker: { named: null } }),
  )
  const asking = sealedTo(keyFor(), { ...long, $status: true })
  await t.rejects(open(route, most, asking), thrown({ code: 'invalid_parameters', asker: { named: route } }))
  await t.rejects(open(route, most, asking), undecryptable, 'and it is entered as seen')
})

t.test('keys are published ahead, and open for ten minutes behind their end', async (t) => {
  const { clock, epochs, keyFor, open } = house()
  const first = keyFor()
  t.equal(epochs.keyset().keys.length, 3, 'two to seal to, and those that sign receipts')
  await clock.pass(hour - 600_000)
  t.equal(epochs.keyset().keys.length, 6, 'the next ones stand beside')
  await clock.pass(600_000)
  t.notOk(
    epochs.keyset().keys.some((key) => enclaveKid(key) === enclaveKid(first)),
    'an old key is published no more',
  )
  await clock.pass(599_999)
  t.ok(await open(route, outer, sealedTo(first, bound)), 'an old key opens for ten minutes')
  await clock.pass(1)
  await t.rejects(open(route, outer, sealedTo(first, bound)), { name: 'Expired' })
})

t.test('a key that follows none is valid for a client whose clock is ten minutes slow', async (t) => {
  for (const length of [600_000, hour, 24 * hour]) {
    const clock = fakeClock()
    const epochs = new Epochs(clock, { length, kems: ['x-wing'], releaseDigest: new Uint8Array(32) })
    for (const begun of ['at the start', 'after a long pause']) {
      t.ok(newest(epochs.keyset(), kems[0]!, clock.now() - 600_000), begun)
      t.notOk(newest(epochs.keyset(), kems[0]!, clock.now() - 600_001), begun)
      const { notBefore, notAfter } = epochs.keyset().keys[0]!
      t.equal(notAfter, clock.now() + length, 'its end stays where it is')
      t.ok(notAfter - notBefore <= 25 * hour, 'a client takes no longer validity')
      await clock.pass(3 * length)
    }
  }
})

t.test('long-lived data is never sealed with elliptic curves alone', async (t) => {
  const { keyFor, open } = house()
  const tool = { kind: 'simple' } as Parameters<typeof outerOf>[0]
  const short = '00'.repeat(32)
  const kinds = ['simple', 'reads-file', 'makes-file', 'retrieval'] as const
  for (const kind of kinds) t.type(outerOf({ ...tool, kind } as typeof tool).cipherText.check(short), 'string', kind)
  t.type(indexRequest({}).outer.cipherText.check(short), 'string', 'an index')
  for (const length of [1120, 1088]) t.equal(checks.lasting('00'.repeat(length)), null)
  t.equal(checks.cipherText(short), null, 'a chat takes it')
  const { encryptedInference: encryptedParams, ...rest } = sealedTo(keyFor('x25519'), bound)
  await t.rejects(
    open(route, outerOf(tool), { ...rest, encryptedParams }),
    thrown({ validator: { cipherText: /Expected/ } }),
  )
})

t.test('a key that was sealed for one file opens no other', (t) => {
  const dek = new Uint8Array(32).fill(7)
  const stored = { size: 5, hash: new Uint8Array(32) }
  const opens = (part: Uint8Array, id: string | null) => keyOf(part, 'encryptedFileDek', id)
  t.same(opens(dek, 'file_1').key, dek, 'a key without a name')
  t.same(opens(namedKey(dek, 'file_1', stored), 'file_1').stored, stored)
  const refused = { code: 'invalid_parameters', field: 'encryptedFileDek' }
  t.throws(() => opens(namedKey(dek, 'file_1', null), 'file_2'), refused)
  t.throws(() => opens(namedKey(dek, 'file_1', stored), 'file_2'), refused)
  t.throws(() => opens(namedKey(dek, 'file_1', null), null), refused, 'where no file is read')
  t.throws(() => opens(dek.subarray(1), 'file_1'), refused)
  t.end()
})

t.test('a replay table forgets nothing, and a full table refuses', (t) => {
  const table = replayTables(8)()
  const item = (byte: number) => Uint8Array.of(byte)
  t.equal(table.enter(item(1), item(2)), 'fresh')
  t.equal(table.enter(item(3), item(2)), 'seen')
  t.equal(table.enter(item(4), item(4)), 'seen')
  t.notOk(table.has(item(3)), 'all or none')
  t.ok(table.has(item(9), item(1)))
  for (const byte of [3, 4, 5, 6, 7]) t.equal(table.enter(item(byte)), 'fresh')
  t.equal(table.enter(item(8)), 'full')
  t.equal(table.enter(item(1)), 'seen')
  t.end()
})

t.test('a table of what was seen begins empty, whose memory ever it has', (t) => {
  const table = replayTables(4)
  const items = [1, 2, 3].map((byte) => Uint8Array.of(byte))
  for (const epoch of [1, 2, 3]) {
    const replay = table()
    for (const item of items) t.equal(replay.enter(item), 'fresh', `epoch ${epoch}`)
    t.same([replay.enter(items[0]!), replay.enter(Uint8Array.of(4))], ['seen', 'full'])
    replay.close()
    t.equal(replay.has(items[0]!), false, 'a closed table holds nothing')
  }
  const early = table()
  early.close()
  t.equal(early.enter(items[0]!), 'full', 'a closed table takes nothing, with all of its room free')
  t.end()
})

t.test('one nonce may seal the same key twice, and never two keys', async (t) => {
  const { keyFor, open } = house()
  const key = keyFor()
  const twice: OuterFields = {
    ...keyed,
    parts: { ...keyed.parts, encryptedRagDek: { nonce: 'ragDekNonce', check: checks.key } },
  }
  const request = sealedTo(key, bound, [part])
  const again = { encryptedRagDek: request.encryptedFileDek, ragDekNonce: request.fileNonce }
  const { parts } = await open(route, twice, { ...request, ...again })
  t.same(parts, { encryptedFileDek: part, encryptedRagDek: part })
  const other = sealedTo(key, bound, [part.map((byte) => byte + 1)])
  const mixed = { ...request, encryptedRagDek: other.encryptedFileDek, ragDekNonce: request.fileNonce }
  await t.rejects(open(route, twice, mixed), { message: 'Nonces must differ' })
})

t.test('of requests that come together, one turn of the loop opens one', async (t) => {
  const { keyFor, open, clock } = house()
  const paceOf = loopTime(clock)
  const holder = { organization: 'o', key: 'k' }
  const calls = Array.from({ length: 20 }, () => sealedTo(keyFor(), bound))
  const turns = await turnsDuring(() =>
    Promise.all(calls.map((sealed) => open(route, outer, sealed, paceOf(holder, usualTime)))),
  )
  t.ok(turns >= 20, `${turns} turns`)
})
