import { type Round, contest, times } from './contest.ts'
import { decidingBackend } from './deciding-backend.ts'
import { type Load, type Subject, measure, start } from './measure.ts'
import { startedGateway } from './spawned.ts'
import { told } from './told.ts'

const key = `sk_live_${'L'.repeat(44)}`
const headers = { authorization: `Bearer ${key}` }

/** Each question is one call of the backend, or more. */
const questions = Object.fromEntries(
  Array.from({ length: 10 }, (_, at) => [`q${at}`, { type: 'noul', instructions: `Is it about parcel ${at}?` }]),
)
const decision = { model: 'decides', state: 'The parcel arrived crushed. '.repeat(20), questions }
/** What such a call is like for a proxy. */
const chat = {
  model: 'decides',
  max_tokens: 1,
  logprobs: true,
  top_logprobs: 20,
  messages: [{ role: 'user', content: `${decision.state}${'Answer by yes or no. '.repeat(20)}` }],
}

const configOf = (upstream: string) => ({
  providers: { openai: { use: 'openai', baseUrl: `${upstream}/v1`, apiKey: 'none' } },
  models: { decides: { decide: true, upstreams: [{ provider: 'openai' }] } },
})

/** Decisions over log-probabilities, as `npm start` serves them, beside the bare proxy: CPU for each call of the backend. */
export const decisionCalls = async (): Promise<readonly string[]> => {
  const upstream = await decidingBackend()
  const bare = await start('proxy-bare', { UPSTREAM: upstream.url })
  const ours = await startedGateway(configOf(upstream.url), key)
  const perCall =
    (subject: Subject, load: Load): Round =>
    async () => {
      const before = upstream.calls()
      const { cpu, failed } = await measure(subject, load)
      if (failed > 0) throw new Error(`${failed} of ${load.requests} requests failed`)
      return (cpu * load.requests) / (upstream.calls() - before)
    }
  try {
    const { decided } = await contest(
      perCall(bare, { path: '/v1/chat/completions', body: JSON.stringify(chat), requests: 1000, concurrency: 8 }),
      {
        decided: perCall(ours, {
          ...{ path: '/compat/v1/decision', body: JSON.stringify(decision), headers },
          ...{ requests: 400, concurrency: 4 },
        }),
      },
      times,
    )
    return [told('a call of the backend for a decision of ten questions', decided!, 1.3)]
  } finally {
    upstream.stop()
    await Promise.all([bare, ours].map((subject) => subject.stop()))
  }
}
