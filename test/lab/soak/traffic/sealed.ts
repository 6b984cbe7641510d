import { connect } from '../../../../plugins/sealed/client/client.ts'
import { sealRequest, sealingKeys } from '../../../../plugins/sealed/client/seal-request.ts'
import { toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { said } from '../backend.ts'
import { type Target, type Traffic, ask, judged, one, refused } from '../traffic.ts'

const path = 'rvenc/chat/completions'
const names = { params: 'encryptedInference', kid: 'enclaveKid' }
const confidential = { standard: false, confidential: true, upstreams: [{ provider: 'soak' }] }

const asking = (model: string) => ({
  model,
  messages: [{ role: 'user' as const, content: 'Where is the ferry? '.repeat(1 + Math.floor(Math.random() * 200)) }],
})

const streamed = async ({ client }: Target, model: string, signal: AbortSignal): Promise<string> => {
  let text = ''
  const chunks = await client.chat.completions.create({ ...asking(model), stream: true }, { signal })
  for await (const { choices } of chunks) text += choices[0]?.delta.content ?? ''
  return text
}

/** Sealed by hand, to be sent as it should not be. */
const sealed = async ({ base, key, fetch }: Target) => {
  const keys = sealingKeys({ baseUrl: base, apiKey: key, policy: { allowInsecureDev: true }, fetch })
  const id = toHex(crypto.getRandomValues(new Uint8Array(16)))
  return sealRequest(await keys.current(true, null), path, asking('secret'), id, names).body
}

const isRefused = (text: string) => text.includes('"error"')

export const traffic: Traffic = {
  name: 'sealed chat',
  weight: 8,
  ms: 400,
  models: {
    secret: confidential,
    'secret-cut': { ...confidential, upstreams: [{ provider: 'soak', model: 'cut' }] },
  },
  async call(target, leave) {
    const { client } = target
    switch (one(['whole', 'whole', 'stream', 'stream', 'stream', 'cut', 'unknown', 'again', 'late', 'first'])) {
      case 'stream':
        return (await streamed(target, 'secret', leave)) === said ? null : 'another text'
      case 'cut':
        return refused(streamed(target, 'secret-cut', leave), { fault: 'failed' }, leave)
      case 'unknown': {
        const wanted = { fault: 'failed', status: 404, code: 'unknown_model' }
        return refused(client.chat.completions.create(asking('nobody'), { signal: leave }), wanted, leave)
      }
      case 'again': {
        const body = JSON.stringify(await sealed(target))
        const first = judged(await ask(target, `/${path}`, { body }, leave), 200, (text) => text.includes('nonce'))
        return first ?? judged(await ask(target, `/${path}`, { body }, leave), 400, isRefused)
      }
      case 'late': {
        const body = JSON.stringify({ ...(await sealed(target)), enclaveKid: '0123456789abcdef' })
        return judged(await ask(target, `/${path}`, { body }, leave), 400, (text) => text.includes('enclaveKid'))
      }
      case 'first': {
        const newcomer = connect({
          baseUrl: target.base,
          apiKey: target.key,
          policy: { allowInsecureDev: true },
          fetch: target.fetch,
        })
        const answer = await newcomer.chat.completions.create(asking('secret'), { signal: leave })
        return answer.choices[0]!.message.content === said ? null : 'another text'
      }
      default: {
        const answer = await client.chat.completions.create(asking('secret'), { signal: leave })
        return answer.choices[0]!.message.content === said ? null : 'another text'
      }
    }
  },
}
