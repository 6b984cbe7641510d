import { once } from 'node:events'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { ed25519 } from '@noble/curves/ed25519.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { ml_kem768_x25519 as xWing } from '@noble/post-quantum/hybrid.js'
import { createGateway } from 'sealgate'
import { memory } from 'sealgate/memory'

// A client written from docs/wire.md alone: published ciphers and fetch, nothing of ours. The numbers are its sections.
const gateway = createGateway(memory())
const server = gateway.server().listen(0, '127.0.0.1')
await once(server, 'listening')
const base = `http://127.0.0.1:${(server.address() as { port: number }).port}`
const headers = {
  authorization: `Bearer ${(await gateway.keys.create({})).credential}`,
  'content-type': 'application/json',
}
const route = 'rvenc/chat/completions'

const insist = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Error(otherwise)
}
const padded = (text: string, bucket: number): Uint8Array => {
  const bytes = utf8ToBytes(text)
  const out = new Uint8Array(Math.ceil(bytes.length / bucket) * bucket).fill(0x20)
  out.set(bytes)
  return out
}
const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes)
const same = (one: Uint8Array, other: Uint8Array): boolean => bytesToHex(one) === bytesToHex(other)

/** 6: the bytes of the keyset, proven over a challenge of our own, and the newest X-Wing key in it. */
const verifiedKey = async (): Promise<{ kid: string; publicKey: Uint8Array }> => {
  const challenge = randomBytes(32)
  const answer = await (await fetch(`${base}/rvenc/attestation?challenge=${bytesToHex(challenge)}`, { headers })).json()
  const { keyset, evidence } = answer as { keyset: string; evidence: { type: string; signature: string } }
  const bytes = hexToBytes(keyset)
  const reportData = concatBytes(sha256(concatBytes(utf8ToBytes('rvenc-report/1\0'), bytes)), challenge)
  // This kind proves nothing: it is taken here because the enclave is this very process. A real client checks a platform's.
  const devKey = hexToBytes('a6ea0003f8999046c6f82d2061cb369f5db20a6c1937356f99061caab747236f')
  const holds = evidence.type === 'dev' && ed25519.verify(hexToBytes(evidence.signature), reportData, devKey)
  insist(holds, 'The evidence does not hold')

  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const magic = utf8ToBytes('rvenc-keyset/1\0')
  insist(same(bytes.subarray(0, magic.length), magic), 'No keyset')
  let at = magic.length + 8 + 32
  const keys: { kem: number; from: number; until: number; kid: Uint8Array; publicKey: Uint8Array }[] = []
  for (let left = bytes[at++]!; left > 0; left--) {
    const [kem, length] = [view.getUint16(at), view.getUint32(at + 18)]
    const [from, until] = [Number(view.getBigUint64(at + 2)), Number(view.getBigUint64(at + 10))]
    const publicKey = bytes.slice(at + 22, at + 22 + length)
    const kid = sha256(concatBytes(utf8ToBytes('rvenc kid\0'), bytes.subarray(at, at + 2), publicKey)).slice(0, 8)
    const last = keys.at(-1)
    const inOrder = !last || last.kem < kem || (last.kem === kem && bytesToHex(last.kid) < bytesToHex(kid))
    insist(publicKey.length === length && inOrder, 'A key is cut, out of order, or there twice')
    keys.push({ kem, from, until, kid, publicKey })
    at += 22 + length
  }
  insist(at === bytes.length, 'Something stands behind the keyset')
  const now = Date.now()
  const usable = keys.filter(
    ({ kem, from, until, publicKey }) =>
      kem === 0x647a && publicKey.length === 1216 && from <= now && now < until && until - from <= 25 * 3_600_000,
  )
  const newest = usable.sort((one, other) => other.from - one.from)[0]
  if (newest === undefined) throw new Error('No X-Wing key')
  return { kid: bytesToHex(newest.kid), publicKey: newest.publicKey }
}

/** 2 and 3: one encapsulation and one nonce a request. */
const sealed = async (params: object) => {
  const { kid, publicKey } = await verifiedKey()
  const { cipherText, sharedSecret: secret } = xWing.encapsulate(publicKey)
  const nonce = randomBytes(24)
  const plain = padded(JSON.stringify({ ...params, $for: route, $id: bytesToHex(randomBytes(16)) }), 256)
  const body = {
    encryptedInference: bytesToHex(xchacha20poly1305(secret, nonce).encrypt(plain)),
    cipherText: bytesToHex(cipherText),
    nonce: bytesToHex(nonce),
    enclaveKid: kid,
  }
  const answer = await fetch(`${base}/${route}`, { method: 'POST', headers, body: JSON.stringify(body) })
  insist(answer.ok, `Refused with ${answer.status}`)
  return { answer, secret, nonce }
}

/** 4: an answer in one piece. */
const whole = async (params: object): Promise<string> => {
  const { answer, secret, nonce } = await sealed(params)
  const reply = (await answer.json()) as { encryptedResponse: string; nonce: string }
  insist(reply.nonce !== bytesToHex(nonce), 'Our own request came back')
  const plain = xchacha20poly1305(secret, hexToBytes(reply.nonce)).decrypt(hexToBytes(reply.encryptedResponse))
  return JSON.parse(text(plain)).choices[0].message.content
}

/** 5: frames, each with its place in its nonce. */
async function* streamed(params: object): AsyncGenerator<string> {
  const { answer, secret, nonce } = await sealed({ ...params, stream: true })
  const key = hkdf(sha256, secret, nonce, utf8ToBytes('rvenc/1 s2c/stream'), 32)
  let [begun, index, prefix] = ['', 0, null as Uint8Array | null]
  for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
    const events = (begun + part).split('\n\n')
    begun = events.pop()!
    for (const event of events) {
      const hex = /^event: data\ndata: ([0-9a-f]+)$/.exec(event)?.[1]
      if (hex === undefined) continue // Heartbeats, the end mark and plain errors say nothing that one may believe.
      const frame = hexToBytes(hex)
      insist(frame.length >= 40 && frame.length <= 1024 * 1024 && frame[23]! <= 2, 'A damaged frame')
      prefix ??= frame.slice(0, 19)
      const inPlace = same(frame.subarray(0, 19), prefix) && new DataView(frame.buffer).getUint32(19) === index++
      insist(inPlace, 'A frame in the wrong place')
      const line = text(xchacha20poly1305(key, frame.subarray(0, 24)).decrypt(frame.subarray(24))).trimEnd()
      insist(frame[23] !== 2, `The request failed: ${line}`)
      if (line !== '') yield JSON.parse(line).choices[0]?.delta.content ?? ''
      if (frame[23] === 1) return
    }
  }
  throw new Error('The answer was cut off')
}

const params = { model: 'rehearsal', messages: [{ role: 'user', content: 'Who can read this?' }] }
console.log(await whole(params))
for await (const piece of streamed(params)) process.stdout.write(piece)
console.log()

server.close()
server.closeAllConnections()
await gateway.close()
