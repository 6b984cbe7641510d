import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { openAnswer, openWithStatus, sealRequest } from '../../plugins/sealed/client/seal-request.ts'
import { BadRequest, Expired } from '../../core/errors.ts'
import type { Enclave, Grant, Keyset, SealedReply } from '../../core/ports/enclave.ts'
import { fromHex, toHex } from '../../plugins/sealed/wire/hex.ts'
import { kems } from '../../plugins/sealed/wire/kem.ts'
import { enclaveKid, newest, parseKeyset } from '../../plugins/sealed/wire/keyset.ts'
import { type Contract, proof } from './contract.ts'

const route = 'rvenc/chat/completions'
const grant: Grant = { request: 'r', organization: 'o', user: 'u', key: 'k', models: null }
const params = { model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] }
const names = { params: 'encryptedInference', kid: 'enclaveKid' }
const soon = () => AbortSignal.timeout(20_000)

const keyOf = ({ keyset }: Keyset) => newest(parseKeyset(fromHex(keyset, 1 << 20)!)!, kems[0]!, Date.now())!
const sealed = async (it: Enclave, said: object = params) =>
  sealRequest(keyOf(await it.keys()), route, { ...said }, toHex(new Uint8Array(randomBytes(16))), names)
const bodyOf = (reply: SealedReply) => {
  equal(reply.kind, 'body', 'an answer in one piece')
  return reply as Extract<SealedReply, { kind: 'body' }>
}

/** An enclave that serves the rehearsal model. */
const contract = {
  'publishes the keys that its keyset binds': async (fresh) => {
    const it = await fresh()
    const { keyset, keys } = await it.keys()
    const bound = parseKeyset(fromHex(keyset, 1 << 20)!)
    ok(bound !== null, 'a keyset')
    deepEqual(keys.map((key) => key.enclaveKid).sort(), bound.keys.map(enclaveKid).sort(), 'the same keys')
  },
  'gives fresh evidence over a challenge, and the same keyset': async (fresh) => {
    const it = await fresh()
    const plain = await it.keys()
    const [one, other] = [await it.attest(new Uint8Array(32).fill(1)), await it.attest(new Uint8Array(32).fill(2))]
    equal(one.keyset, plain.keyset, 'the same keys')
    ok(JSON.stringify(one.evidence) !== JSON.stringify(other.evidence), 'other evidence')
  },
  'says what it serves': async (fresh) => {
    const models = await (await fresh()).models(soon())
    ok(
      models.some(({ name, settings }) => name === 'rehearsal' && settings.confidential),
      'the confidential model',
    )
  },
  'answers sealed for the caller, and tells the gateway counts only': async (fresh) => {
    const it = await fresh()
    const request = await sealed(it)
    const reply = bodyOf(await it.handle(route, request.body, grant, soon()))
    equal(reply.status, 200, 'fine')
    ok(/rehearsal/.test(JSON.stringify(openAnswer(request, reply.body))), 'it opens')
    deepEqual([reply.trailer.model, reply.trailer.usage !== null], ['rehearsal', true], 'counts')
    ok(!/Hi|rehearsal:/.test(JSON.stringify(reply)), 'nothing in the clear')
  },
  'refuses what it has seen before': async (fresh) => {
    const it = await fresh()
    const request = await sealed(it)
    await it.handle(route, request.body, grant, soon())
    await rejects(it.handle(route, request.body, grant, soon()), BadRequest)
  },
  'tells a key that is over from a request that does not open': async (fresh) => {
    const it = await fresh()
    const { body } = await sealed(it)
    await rejects(it.handle(route, { ...body, enclaveKid: '0'.repeat(16) }, grant, soon()), Expired)
    const nonce = toHex(new Uint8Array(randomBytes(24)))
    await rejects(it.handle(route, { ...body, nonce }, grant, soon()), (error) => {
      return error instanceof BadRequest && !(error instanceof Expired) && error.validator === null
    })
  },
  'holds itself to the grant, and says so under the seal': async (fresh) => {
    const it = await fresh()
    const request = await sealed(it)
    const reply = bodyOf(await it.handle(route, request.body, { ...grant, models: ['another'] }, soon()))
    equal(reply.status, 404, 'not for this caller')
    deepEqual(openWithStatus(request, reply.body).value, { code: 'unknown_model', field: 'model' }, 'sealed')
  },
  'stops when it is told to': async (fresh) => {
    const it = await fresh()
    const { body } = await sealed(it)
    await rejects(it.handle(route, body, grant, AbortSignal.abort(new Error('left'))))
  },
} satisfies Contract<Enclave>

const right = async (): Promise<Enclave> => {
  const { enclaveWithin } = await import('../../adapters/memory/enclave.ts')
  const { tools } = await import('../../adapters/memory/tools.ts')
  return enclaveWithin()({ upstreams: [], tools }).make(() => ({}) as never)
}

export const enclave = proof<Enclave, typeof contract>({
  contract,
  right,
  wrong: {
    'publishes the keys that its keyset binds': (it) => ({
      keys: async () => ({ ...(await it.keys()), keys: [] }),
    }),
    'gives fresh evidence over a challenge, and the same keyset': (it) => ({ attest: () => it.keys() }),
    'says what it serves': () => ({ models: async () => [] }),
    'answers sealed for the caller, and tells the gateway counts only': (it) => ({
      handle: async (...asked) => {
        const reply = bodyOf(await it.handle(...asked))
        return { ...reply, body: { ...reply.body, note: 'Hi' } }
      },
    }),
    'refuses what it has seen before': (it) => {
      const seen = new Map<unknown, Promise<SealedReply>>()
      return {
        handle: (where, body, ...rest) => {
          const known = seen.get(body)
          if (known) return known
          const answer = it.handle(where, body, ...rest)
          seen.set(body, answer)
          return answer
        },
      }
    },
    'tells a key that is over from a request that does not open': (it) => ({
      handle: (...asked) =>
        it.handle(...asked).catch(() => {
          throw new BadRequest('No')
        }),
    }),
    'holds itself to the grant, and says so under the seal': (it) => ({
      handle: (where, body, _, signal) => it.handle(where, body, grant, signal),
    }),
    'stops when it is told to': (it) => ({ handle: (where, body, its) => it.handle(where, body, its, soon()) }),
  },
})
