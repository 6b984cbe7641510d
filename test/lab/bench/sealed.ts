import { randomBytes } from 'node:crypto'
import { ml_kem768_x25519 as library } from '@noble/post-quantum/hybrid.js'
import { connect } from '../../../plugins/sealed/client/client.ts'
import { aead as portable } from '../../../plugins/sealed/wire/aead.ts'
import { aead as native } from '../../../plugins/sealed/wire/aead.node.ts'
import { encapsulate, kems, opener } from '../../../plugins/sealed/wire/kem.ts'
import { type Round, contest, times } from './contest.ts'
import { type Subject, start } from './measure.ts'
import { eagerly } from './pace.ts'
import { startedGateway } from './spawned.ts'
import { told } from './told.ts'

const key = `sk_live_${'2'.repeat(44)}`

/** Sealed streams, gateway and enclave together, beside two bare proxies in a chain; and the ciphers beside the library's own. */
export const sealed = async (): Promise<readonly string[]> => {
  const upstream = await start('upstream')
  const behind = await start('proxy-bare', { UPSTREAM: upstream.base })
  const before = await start('proxy-bare', { UPSTREAM: behind.base })
  const started = await startedGateway(configOf(upstream.base), key)
  const embedded = await start('sealgate-sealed', { UPSTREAM: upstream.base, KEYS: key })
  try {
    const result = await contest(
      spent([before, behind], plainStream(`${before.base}/v1`)),
      {
        sealed: spent([started], sealedStream(started.base)),
        standard: spent([started], plainStream(`${started.base}/std`)),
      },
      times,
    )
    return [
      told('a sealed stream of 100 events', result['sealed']!, 1.35, 'two bare proxies in a chain'),
      told('the same on the standard route, one process', result['standard']!, null, 'two bare proxies in a chain'),
      ...(await audio(embedded)),
      ...ciphers(),
    ]
  } finally {
    await Promise.all([started, embedded, before, behind, upstream].map((subject) => subject.stop()))
  }
}

const configOf = (upstream: string) => ({
  providers: { openai: { use: 'openai', baseUrl: `${upstream}/v1`, apiKey: 'none' } },
  models: { bench: { confidential: true, upstreams: [{ provider: 'openai' }] } },
})

const body = { model: 'bench', messages: [{ role: 'user', content: 'Say words. '.repeat(40) }], stream: true } as const
const [atOnce, each] = [20, 5]

/** Microseconds of CPU a stream in all these servers, with so many streams open at a time; each has its events. */
const spent =
  (servers: readonly Subject[], stream: () => Promise<number>): Round =>
  async () => {
    const used = async () =>
      (await Promise.all(servers.map((server) => server.cpu()))).reduce((sum, cpu) => sum + cpu, 0)
    const before = await used()
    await eagerly(
      async () => {
        if ((await stream()) < 1) throw new Error('an empty stream')
      },
      atOnce,
      atOnce * each,
    )
    return ((await used()) - before) / (atOnce * each)
  }

const plainStream = (base: string) => async (): Promise<number> => {
  const answer = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!text.endsWith('data: [DONE]\n\n')) throw new Error(`a broken stream: ${answer.status}`)
  return text.split('data: ').length - 2
}

/** Each caller keeps its client, and with it the gateway's public key. */
const sealedStream = (baseUrl: string) => {
  const client = connect({ baseUrl, apiKey: key, policy: { allowInsecureDev: true } })
  return async (): Promise<number> => {
    let chunks = 0
    for await (const _ of await client.chat.completions.create(body)) chunks++
    return chunks
  }
}

/** A file as large as may be, sealed here beforehand so that only the other side is measured. */
const audio = async (subject: Subject): Promise<readonly string[]> => {
  const client = connect({ baseUrl: subject.base, apiKey: key, policy: { allowInsecureDev: true } })
  const file = { name: 'long.wav', bytes: new Uint8Array(randomBytes(25 * 1024 * 1024)) }
  const once = () => client.audio.transcriptions.create({ model: 'heard', file })
  await subject.ask('watch')
  await once()
  const mb = async (who: string) => ((await subject.ask(`peak ${who}`)) / 1048576).toFixed(0)
  return [
    `25 MB of sealed audio: the gateway's loop stood still ${(await subject.ask('delay')).toFixed(0)} ms at most (at most 50); ` +
      `peaks above idle: gateway ${await mb('gateway')} MB, enclave ${await mb('enclave')} MB (at most 150)`,
  ]
}

const ciphers = (): readonly string[] => {
  const kem = kems.find(({ name }) => name === 'x-wing')!
  const seed = randomBytes(32)
  const { cipherText } = encapsulate(kem, library.getPublicKey(seed))
  const open = opener(kem, seed)
  const [ours, theirs] = fastest([() => open(cipherText), () => library.decapsulate(cipherText, seed)], 200)
  const lines = [
    `opening X-Wing: ${(theirs! / ours!).toFixed(1)} times as fast as the library's decapsulate (at least 6); ${ours!.toFixed(0)} µs`,
  ]
  for (const [size, least, times] of [
    [1, 4, 8],
    [16, 8, 3],
  ] as const) {
    const plain = randomBytes(size * 1024 * 1024)
    const [key, nonce] = [randomBytes(32), randomBytes(24)]
    const [fast, slow] = fastest([() => native.seal(key, nonce, plain), () => portable.seal(key, nonce, plain)], times)
    lines.push(
      `sealing ${size} MiB: ${(slow! / fast!).toFixed(1)} times as fast as the portable cipher (at least ${least}); ${(fast! / 1000).toFixed(2)} ms`,
    )
  }
  return lines
}

/** Microseconds a call, the best of five turns, in turns. */
const fastest = (calls: readonly (() => unknown)[], times: number): number[] => {
  const best = calls.map(() => Infinity)
  for (let turn = 0; turn < 6; turn++) {
    for (const [at, call] of calls.entries()) {
      const before = process.cpuUsage()
      for (let time = 0; time < times; time++) call()
      const { user, system } = process.cpuUsage(before)
      if (turn > 0) best[at] = Math.min(best[at]!, (user + system) / times)
    }
  }
  return best
}
