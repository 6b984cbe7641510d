import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { openAnswer, openWithStatus, sealRequest } from '../../plugins/sealed/client/seal-request.ts'
import { BadRequest, Expired } from '../../core/errors.ts'
import type { Enclave, Grant, Keyset, SealedReply } from '../../core/ports/enclave.ts'
import { fromHex, toHex } from '../../plugins/sealed/wire/bytes.ts'
import { kems } from '../../plugins/sealed/wire/kem.ts'
import { enclaveKid, newest, parseKeyset } from '../../plugins/sealed/wire/keyset.ts'
import { type Contract, proof } from './contract.ts'

const route = 'rvenc/chat/completions'
const grant: Grant = { request: 'r', organization: 'o', user: 'u', key: 'k', models: null }
const params = { model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] }
const names = { params: 'encryptedInference', kid: 'enclaveKid' }
const soon = () => AbortSignal.timeout(20_000)

const keyOf = ({ keyset }: Keyset) => newest(parseKeyset(fromHex(keyset, 1 << 20)!)!, kems[0]!, Date.now())!
const sealed = async (enclave: Enclave, sent: object = params) =>
  sealRequest(keyOf(await enclave.keys()), route, { ...sent }, toHex(new Uint8Array(randomBytes(16))), names)
const bodyOf = (reply: SealedReply) => {
  equal(reply.kind, 'body', 'an answer in one piece')
  return reply as Extract<SealedReply, { kind: 'body' }>
}

/** An enclave that serves the rehearsal model. */
const contract = {
  'publishes the keys that its keyset binds': async (fresh) => {
    const enclave = await fresh()
    const { keyset, keys } = await enclave.keys()
    const bound = parseKeyset(fromHex(keyset, 1 << 20)!)
    ok(bound !== null, 'a keyset')
    deepEqual(keys.map((key) => key.enclaveKid).sort(), bound.keys.map(enclaveKid).sort(), 'the same keys')
  },
  'gives fresh evidence over a challenge, and the same keyset': async (fresh) => {
    const enclave = await fresh()
    const plain = await enclave.keys()
    const [one, other] = [
      await enclave.attest(new Uint8Array(32).fill(1)),
      await enclave.attest(new Uint8Array(32).fill(2)),
    ]
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
    const enclave = await fresh()
    const request = await sealed(enclave)
    const reply = bodyOf(await enclave.handle(route, request.body, grant, soon()))
    equal(reply.status, 200, 'fine')
    ok(/rehearsal/.test(JSON.stringify(openAnswer(request, reply.body))), 'it opens')
    deepEqual([reply.trailer.model, reply.trailer.usage !== null], ['rehearsal', true], 'counts')
    ok(!/Hi|rehearsal:/.test(JSON.stringify(reply)), 'nothing in the clear')
  },
  'refuses what it has seen before': async (fresh) => {
    const enclave = await fresh()
    const request = await sealed(enclave)
    await enclave.handle(route, request.body, grant, soon())
    await rejects(enclave.handle(route, request.body, grant, soon()), BadRequest)
  },
  'tells a key that is over from a request that does not open': async (fresh) => {
    const enclave = await fresh()
    const { body } = await sealed(enclave)
    await rejects(enclave.handle(route, { ...body, enclaveKid: '0'.repeat(16) }, grant, soon()), Expired)
    const nonce = toHex(new Uint8Array(randomBytes(24)))
    await rejects(enclave.handle(route, { ...body, nonce }, grant, soon()), (error) => {
      return error instanceof BadRequest && !(error instanceof Expired) && error.validator === null
    })
  },
  'holds itself to the grant, and says so under the seal': async (fresh) => {
    const enclave = await fresh()
    const request = await sealed(enclave)
    const reply = bodyOf(await enclave.handle(route, request.body, { ...grant, models: ['another'] }, soon()))
    equal(reply.status, 404, 'not for this caller')
    deepEqual(openWithStatus(request, reply.body).value, { code: 'unknown_model', field: 'model' }, 'sealed')
  },
  'stops when it is told to': async (fresh) => {
    const enclave = await fresh()
    const { body } = await sealed(enclave)
    await rejects(enclave.handle(route, body, grant, AbortSignal.abort(new Error('left'))))
  },
} satisfies Contract<Enclave>

const right = async (): Promise<Enclave> => {
  const { enclaveWithin } = await import('../../adapters/memory/enclave.ts')
  const { tools } = await import('../../adapters/memory/tools.ts')
  const { closedDoors } = await import('../fakes/closed-doors.ts')
  return enclaveWithin()({ upstreams: [], tools }).make(() => ({ fetch: closedDoors }) as never)
}

export const enclave = proof<Enclave, typeof contract>({
  contract,
  right,
  wrong: {
    'publishes the keys that its keyset binds': (enclave) => ({
      keys: async () => ({ ...(await enclave.keys()), keys: [] }),
    }),
    'gives fresh evidence over a challenge, and the same keyset': (enclave) => ({ attest: () => enclave.keys() }),
    'says what it serves': () => ({ models: async () => [] }),
    'answers sealed for the caller, and tells the gateway counts only': (enclave) => ({
      handle: async (...asked) => {
        const reply = bodyOf(await enclave.handle(...asked))
        return { ...reply, body: { ...reply.body, note: 'Hi' } }
      },
    }),
    'refuses what it has seen before': (enclave) => {
      const seen = new Map<unknown, Promise<SealedReply>>()
      return {
        handle: (where, body, ...rest) => {
          const known = seen.get(body)
          if (known) return known
          const answer = enclave.handle(where, body, ...rest)
          seen.set(body, answer)
          return answer
        },
      }
    },
    'tells a key that is over from a request that does not open': (enclave) => ({
      handle: (...asked) =>
        enclave.handle(...asked).catch(() => {
          throw new BadRequest('No')
        }),
    }),
    'holds itself to the grant, and says so under the seal': (enclave) => ({
      handle: (where, body, _, signal) => enclave.handle(where, body, grant, signal),
    }),
    'stops when it is told to': (enclave) => ({
      handle: (where, body, grant) => enclave.handle(where, body, grant, soon()),
    }),
  },
})
