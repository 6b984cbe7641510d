import { randomBytes } from 'node:crypto'
import { connect } from '../../../plugins/sealed/client/client.ts'
import { encapsulate, kems, opener, publicKeyOf } from '../../../plugins/sealed/wire/kem.ts'
import { above, contest } from './contest.ts'
import { decidingBackend } from './deciding-backend.ts'
import { start } from './measure.ts'
import { paceOf } from './pace-of.ts'
import { toldAbove } from './told.ts'

const key = `sk_live_${'D'.repeat(44)}`
const calls = 30
/** Ms that the seal may add to a decision, beside decapsulation. */
const asked = 2

const question = {
  model: 'decides',
  state: 'The parcel arrived crushed.',
  questions: { q: { type: 'noul', instructions: 'Is it about a parcel?' } },
} as const

/** Ms of one agreement on a key, on both sides. */
const agreeing = async () => {
  const kem = kems.find(({ name }) => name === 'x-wing')!
  const seed = randomBytes(32)
  const publicKey = publicKeyOf(kem, seed)
  const open = opener(kem, seed)
  const { cipherText } = encapsulate(kem, publicKey)
  const [sealing, opening] = [
    await paceOf(async () => encapsulate(kem, publicKey), 200)(),
    await paceOf(async () => open(cipherText), 200)(),
  ]
  return { sealing, opening }
}

/** Sealed decisions beside the same in the clear, by one gateway before one backend. */
export const sealedDecisions = async (): Promise<readonly string[]> => {
  const upstream = await decidingBackend()
  const subject = await start('sealgate-sealed', { UPSTREAM: upstream.url, KEYS: key })
  const client = connect({ baseUrl: subject.base, apiKey: key, policy: { allowInsecureDev: true } })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const clear = async () => {
    const body = JSON.stringify(question)
    const answer = await fetch(`${subject.base}/compat/v1/decision`, { method: 'POST', headers, body })
    if (answer.status !== 200) throw new Error(await answer.text())
    return answer.json()
  }
  try {
    const standings = await contest(
      paceOf(clear, calls),
      { sealed: paceOf(() => client.decisions.create(question), calls) },
      above(0.5),
    )
    const { sealing, opening } = await agreeing()
    const { low, middle, high, ...rest } = standings['sealed']!
    const beside = { ...rest, low: low - opening, middle: middle - opening, high: high - opening }
    return [
      toldAbove('a sealed decision', standings['sealed']!, null, 'a decision in the clear'),
      `its key: ${sealing.toFixed(2)} ms to encapsulate, mostly before the call; ${opening.toFixed(2)} ms to decapsulate`,
      toldAbove('a sealed decision beside decapsulation', beside, asked, 'a decision in the clear'),
    ]
  } finally {
    upstream.stop()
    await subject.stop()
  }
}
