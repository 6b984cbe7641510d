import './fakes/unwatched.ts'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { receiptSigner } from '../plugins/sealed/enclave/receipts.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import { type CheckedReceipt, checkReceipt, namedSigners, receiptBeside } from '../plugins/sealed/client/receipts.ts'
import { type SealingKey, sealRequest } from '../plugins/sealed/client/seal-request.ts'
import { concat, utf8, fromHex, toHex } from '../plugins/sealed/wire/bytes.ts'
import { parseKeyset } from '../plugins/sealed/wire/keyset.ts'
import {
  type Receipt,
  answerDigest,
  framesDigest,
  openReceipt,
  receiptKeysHash,
  requestDigest,
} from '../plugins/sealed/wire/receipt.ts'
import { running } from './environments.ts'
import { commandRunner } from './fakes/command-runner.ts'
import { opensHttp } from './fakes/listening.ts'
import { asking, chatRoute, sealedStage } from './fakes/sealing.ts'
import { until } from './until.ts'
import { isWhole } from './whole.ts'

const facts = {
  v: 1 as const,
  ...{ route: chatRoute, key: '00'.repeat(8), release: '11'.repeat(32), request: '22'.repeat(32) },
  ...{ answer: '33'.repeat(32), model: 'quiet', backend: 'played', tokens: { input: 7, output: 5 } },
  ...{ audioSeconds: null, epoch: 3, begun: 1, ended: 2 },
}

t.test('a request, an answer and a receipt have the bytes of the vectors', async (t) => {
  const vectors = JSON.parse(await readFile('test/vectors/receipt.json', 'utf8'))
  const bytes = (hex: string) => fromHex(hex, 1 << 16)!
  t.equal(toHex(receiptKeysHash(vectors.keys)!), vectors.keys_hash)
  t.equal(toHex(requestDigest(vectors.request.parts.map(bytes))), vectors.request.digest)
  t.equal(toHex(answerDigest(bytes(vectors.answer.nonce), bytes(vectors.answer.sealed))), vectors.answer.digest)
  const frames = framesDigest()
  for (const frame of vectors.frames.parts) frames.add(bytes(frame))
  t.equal(toHex(frames.digest()), vectors.frames.digest)
  for (const receipt of vectors.receipts) t.strictSame(openReceipt(receipt, vectors.keys), JSON.parse(receipt.text))
})

t.test('a flipped bit anywhere refuses, and so does either signature alone', async (t) => {
  const signer = receiptSigner()
  const [receipt, ...others] = await Promise.all([signer.sign(facts), signer.sign(facts), signer.sign(facts)])
  t.ok(
    others.every(({ ml_dsa_65 }) => ml_dsa_65 === receipt!.ml_dsa_65),
    'one signature a tick',
  )
  t.match(openReceipt(receipt!, signer.keys), { ...facts, number: 1 })
  t.match(openReceipt(others[1]!, signer.keys), { number: 3 })

  const flipped = (hex: string, at: number): string => {
    const bytes = fromHex(hex, hex.length / 2)!.slice()
    bytes[at >> 3]! ^= 1 << (at & 7)
    return toHex(bytes)
  }
  const refuses = (changed: Partial<Receipt>, what: string) =>
    openReceipt({ ...receipt!, ...changed }, signer.keys) === null || t.fail(what)
  const text = utf8(receipt!.text)
  for (let at = 0; at < text.length * 7; at += isWhole ? 1 : 8) {
    const bytes = text.slice()
    bytes[Math.floor(at / 7)]! ^= 1 << (at % 7)
    refuses({ text: Buffer.from(bytes).toString('latin1') }, `text ${at}`)
  }
  for (let at = 0; at < 64 * 8; at++) refuses({ ed25519: flipped(receipt!.ed25519, at) }, `ed25519 ${at}`)
  for (let at = 0; at < 3309 * 8; at += isWhole ? 1 : 331)
    refuses({ ml_dsa_65: flipped(receipt!.ml_dsa_65, at) }, `ml-dsa ${at}`)
  const { place } = receipt!
  for (let at = 0; at < 32 * 8; at++)
    refuses({ place: { ...place, path: [flipped(place.path[0]!, at), ...place.path.slice(1)] } }, `path ${at}`)
  refuses({ place: { ...place, index: 1 } }, 'another place')
  refuses({ place: { ...place, size: 1, path: [] } }, 'alone')
  refuses({ place: { ...place, path: [...place.path, place.path[0]!] } }, 'a path too long')
  refuses({ place: null as never }, 'no place')
  refuses({ ed25519: '' }, 'ML-DSA alone')
  refuses({ ml_dsa_65: '' }, 'Ed25519 alone')
  const other = receiptSigner()
  const foreign = await other.sign(facts)
  refuses({ ...foreign }, 'of other keys')
  const lone = await signer.sign(facts)
  t.ok(openReceipt(lone, signer.keys))
  t.equal(openReceipt({ ...lone, ed25519: foreign.ed25519 }, { ...signer.keys, ed25519: other.keys.ed25519 }), null)
  t.pass('all of them')
})

const command = commandRunner(t)
const kept: CheckedReceipt[] = []
const receipt = (receipt: CheckedReceipt) => void kept.push(receipt)

t.test('whole answers, streams and audio come with receipts', async (t) => {
  const stage = await sealedStage(t)
  const whole = await stage.client.chat.completions.create(asking('herons'), { receipt })
  t.match(whole, { choices: [{ message: { content: 'herons' } }] })
  const first = kept.at(-1)!.facts
  t.match(first, {
    v: 1,
    route: chatRoute,
    model: 'quiet',
    backend: 'played',
    tokens: { input: 7, output: 5 },
    number: 1,
  })
  t.equal(first.release, '00'.repeat(32))
  t.ok(first.begun <= first.ended)
  t.notOk('receipt' in stage.calls.at(-1)!.body, 'the backend is not asked for one')
  t.notMatch(JSON.stringify(kept), /herons/, 'no content')

  const lines: unknown[] = []
  const before = kept.length
  for await (const chunk of await stage.client.chat.completions.create(
    { ...asking('two herons stand'), stream: true },
    { receipt },
  )) {
    t.equal(kept.length, before, 'not before the end')
    lines.push(chunk.choices[0]?.delta.content)
  }
  t.equal(lines.join(''), 'two herons stand')
  t.match(kept.at(-1)!.facts, { model: 'quiet', tokens: { output: 5 }, number: 2 })

  const file = { name: 'a.wav', bytes: new Uint8Array(64) }
  await stage.client.audio.transcriptions.create({ model: 'hearing', file }, { receipt })
  t.match(kept.at(-1)!.facts, { route: 'rvenc/audio/transcriptions', model: 'hearing', audioSeconds: 1 })

  const many: CheckedReceipt[] = []
  const all = Array.from({ length: 8 }, (_, at) =>
    stage.client.chat.completions.create(asking(`${at}`), { receipt: (receipt) => void many.push(receipt) }),
  )
  await Promise.all(all)
  t.equal(new Set(many.map(({ facts: { number } }) => number)).size, 8, 'each has a number of its own')
  await stage.client.chat.completions.create(asking('none'))
})

t.test('tools come with receipts too', async (t) => {
  const gateway = await running(t, memory())
  const client = connect({ baseUrl: gateway.base, apiKey: gateway.key, policy: { allowInsecureDev: true } })
  const before = kept.length
  const ids: (string | null)[] = []
  const answered = (id: string | null) => void ids.push(id)
  await client.tools.call('getTime', { timezone: 'Europe/Rome' }, { receipt, answered })
  t.equal(kept.length, before + 1)
  t.ok(await until(() => gateway.logged.some(({ facts }) => facts['request'] === ids[0])))
  t.equal(ids.length, 1, 'the caller is told the id of its request')
  t.match(kept.at(-1)!.facts, { route: 'tools/getTime' })
})

t.test('what a gateway leaves out, exchanges or makes up is no receipt', async (t) => {
  const stage = await sealedStage(t)
  const through = (change: (url: string, body: Record<string, unknown>) => Record<string, unknown>) =>
    connect({
      ...{ baseUrl: stage.base, apiKey: stage.apiKey, policy: { allowInsecureDev: true } },
      fetch: async (url, init) => {
        const answer = await globalThis.fetch(url, init)
        const body = (await answer.json()) as Record<string, unknown>
        return new Response(JSON.stringify(change(String(url), body)), { status: answer.status })
      },
    })
  const fails = (client: ReturnType<typeof through>) =>
    client.chat.completions.create(asking('herons'), { receipt }).then(
      () => 'taken',
      (error: { fault: string }) => error.fault,
    )
  t.equal(await fails(through((_, body) => body)), 'taken')
  t.equal(await fails(through((_, { encryptedReceipt: __, ...body }) => body)), 'no_receipt', 'left out')
  t.equal(await fails(through((_, { receipt_keys: __, ...body }) => body)), 'no_receipt', 'no keys')
  const own = receiptSigner()
  const named = through((url, body) => (url.includes('attestation') ? { ...body, receipt_keys: [own.keys] } : body))
  t.equal(await fails(named), 'no_receipt', 'keys that the keyset does not name')
  t.equal(
    await fails(through((_, body) => ('receiptNonce' in body ? { ...body, receiptNonce: body['nonce'] } : body))),
    'no_receipt',
  )
})

/** Requests and answers as they travel, so that parts can be exchanged. */
const exchanged = async (t: Test) => {
  const stage = await sealedStage(t)
  const parsed = (await (await stage.call('GET', '/rvenc/keys')).json()) as { keyset: string; receipt_keys: unknown }
  const body = parseKeyset(fromHex(parsed.keyset, 1 << 20)!)!
  t.strictSame(namedSigners(body, [receiptSigner().keys]), [], 'keys that the keyset does not name')
  t.strictSame(namedSigners(body, parsed.receipt_keys), parsed.receipt_keys)
  const key: SealingKey = { ...(await stage.key()), signers: namedSigners(body, parsed.receipt_keys) }
  const names = { params: 'encryptedInference', kid: 'enclaveKid' }
  return async (content: string, id: string) => {
    const request = sealRequest(key, chatRoute, { ...asking(content), receipt: true }, id, names)
    const answer = (await (await stage.send(request.body)).json()) as { encryptedResponse: string; nonce: string }
    return { request, answer }
  }
}

t.test('the receipt of another request, or of another answer, refuses', async (t) => {
  const ask = await exchanged(t)
  const [one, other] = [await ask('herons', '01'.repeat(16)), await ask('herons', '02'.repeat(16))]
  const digestOf = ({ encryptedResponse, nonce }: typeof one.answer) =>
    answerDigest(fromHex(nonce, 24)!, fromHex(encryptedResponse, 1 << 20)!)
  const { receipt } = receiptBeside(one.request, one.answer)
  t.ok(checkReceipt(receipt, one.request, digestOf(one.answer)))
  const refuses = (work: () => unknown, what: string) => t.throws(work, { message: /receipt is missing/ }, what)
  refuses(() => checkReceipt(receipt, other.request, digestOf(other.answer)), 'of another request')
  refuses(() => checkReceipt(receipt, one.request, digestOf(other.answer)), 'of another answer')
  const mixed = { ...one.request, digest: other.request.digest! }
  refuses(() => checkReceipt(receipt, mixed, digestOf(one.answer)), 'of another request with this answer')
  refuses(
    () => checkReceipt(receipt, { ...other.request, digest: one.request.digest! }, digestOf(other.answer)),
    'both',
  )
  refuses(() => checkReceipt(receipt, { ...one.request, route: 'tools/getTime' }, digestOf(one.answer)), 'of a route')
  refuses(() => checkReceipt(receipt, { ...one.request, kid: '00'.repeat(8) }, digestOf(one.answer)), 'of a key')
  refuses(() => receiptBeside(other.request, one.answer), 'sealed for another')
  const changed = {
    ...one.answer,
    encryptedResponse: toHex(concat(fromHex(one.answer.encryptedResponse, 1 << 20)!, Uint8Array.of(1))),
  }
  refuses(() => receiptBeside(one.request, changed), 'of a changed answer')
})

t.test('a receipt that waits for its entry is told apart', async (t) => {
  const server = createServer((_, response) => response.end(JSON.stringify({ data: { place: null } })))
  const file = join(t.testdir({ 'receipt.json': JSON.stringify({ text: '{}' }) }), 'receipt.json')
  const env = { SEALGATE_URL: await opensHttp(t, server), SEALGATE_KEY: 'sk_live_waiting' }
  const ran = async (...more: readonly string[]) => {
    const { stdout, stderr } = await command(['receipt', 'prove', file, '--allow-insecure-dev', ...more], env)
    return stdout + stderr
  }
  t.match(await ran(), /^✗ The receipt waits for its entry in the log/)
  t.strictSame(JSON.parse(await ran('--json')), { verified: false, fault: 'not_logged', waiting: true })
})

t.test('years later, without a network', async (t) => {
  const stage = await sealedStage(t)
  const folder = t.testdir()
  const at = (name: string) => join(folder, name)
  const ran = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await command([...args, '--allow-insecure-dev'], {})
    return { code, out: stdout + stderr }
  }
  t.match(await ran('verify', stage.base, '--key', stage.apiKey, '--save', at('evidence.json')), { code: 0 })
  await stage.client.chat.completions.create(asking('herons'), {
    receipt: (receipt) => void kept.push(receipt),
  })
  const last = kept.at(-1)!
  await writeFile(at('receipt.json'), JSON.stringify(last))
  const verified = await ran('receipt', 'verify', at('receipt.json'), '--evidence', at('evidence.json'))
  t.match(verified, { code: 0, out: /both signatures hold.*\n.*model quiet, backend played/ })
  t.ok(verified.out.includes(last.facts.answer))
  await writeFile(at('receipt.json'), JSON.stringify(last.receipt))
  t.match(await ran('receipt', 'verify', at('receipt.json'), '--evidence', at('evidence.json'), '--json'), { code: 0 })
  for (const name of ['receipt', 'evidence'])
    await writeFile(at(`${name}-marked.json`), `\ufeff${await readFile(at(`${name}.json`), 'utf8')}`)
  const marked = ['receipt', 'verify', at('receipt-marked.json'), '--evidence', at('evidence-marked.json')]
  t.match(await ran(...marked), { code: 0 }, 'a byte order mark is no fault')
  await writeFile(
    at('changed.json'),
    JSON.stringify({ ...last.receipt, text: last.receipt.text.replace('quiet', 'loud') }),
  )
  t.match(await ran('receipt', 'verify', at('changed.json'), '--evidence', at('evidence.json')), {
    code: 1,
    out: /^✗ The keys of this evidence did not sign this receipt/,
  })
  const { receiptKeys: _, ...rest } = JSON.parse(await readFile(at('evidence.json'), 'utf8'))
  await writeFile(at('bare.json'), JSON.stringify(rest))
  t.match(await ran('receipt', 'verify', at('receipt.json'), '--evidence', at('bare.json')), {
    code: 1,
    out: /^✗ The evidence names no keys of receipts/,
  })
  t.match(await ran('receipt', 'verify', at('receipt.json'), '--evidence', at('bare.json'), '--json'), {
    code: 1,
    out: /^\{"verified":false,"fault":"no_receipt"\}\n$/,
  })
  t.match(await ran('receipt', 'verify', at('receipt.json')), { code: 2, out: /--evidence FILE is needed/ })
  for (const content of ['herons in March', 'null', '[]']) {
    await writeFile(at('odd.json'), content)
    const refuses = async (words: string, ...args: readonly string[]) =>
      t.match(await ran('receipt', ...args), { code: 2, out: `sealgate: ${words} holds no JSON object\n` }, content)
    await refuses('the file', 'verify', at('odd.json'), '--evidence', at('evidence.json'))
    await refuses('the file', 'prove', at('odd.json'))
    await refuses('--evidence FILE', 'verify', at('receipt.json'), '--evidence', at('odd.json'))
    const log = ['--log', at('odd.json')]
    await refuses('--log FILE', 'verify', at('receipt.json'), '--evidence', at('evidence.json'), ...log)
  }
})
