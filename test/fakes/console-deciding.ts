import type { Take } from './recorded.ts'

interface Asked {
  readonly model: string
  readonly logprobs?: boolean
  readonly messages: readonly { readonly content: string }[]
}

/** How sure the model says it is of case N: it claims up to 0.94. */
export const claimOf = (at: number): number => 0.55 + (at % 14) * 0.03

const marksOf = (text: string): readonly string[] => {
  if (text.endsWith('Answer with yes or no and nothing else.')) return ['yes', 'no']
  return [...text.matchAll(/^([A-Z]|\d)(?::|$)/gm)].map(([, mark = '']) => mark)
}

/** Case N goes to label N, a doubt to none, and anything else to the first one. `surer` has no doubts. */
const sharesOf = (model: string, text: string, count: number): readonly number[] => {
  const at = Number(/\bcase (\d+)\b/.exec(text)?.[1] ?? '-1')
  if (text.includes('a doubt') && model !== 'surer') return Array.from({ length: count }, () => 1 / count)
  const [winner, share] = at < 0 ? [0, 0.9] : [at % count, claimOf(at)]
  return Array.from({ length: count }, (_, place) => (place === winner ? share : (1 - share) / (count - 1)))
}

/** The answer of a chat model whose log-probabilities are asked for; null for any other request. */
export const decidingAnswer = (body: Buffer): Take | null => {
  const { model, logprobs, messages } = JSON.parse(body.toString()) as Asked
  if (logprobs !== true) return null
  const text = messages.at(-1)?.content ?? ''
  const marks = marksOf(text)
  const top = sharesOf(model, text, marks.length).map((share, at) => ({ token: marks[at], logprob: Math.log(share) }))
  const choice = { index: 0, message: { role: 'assistant', content: marks[0] }, finish_reason: 'length' }
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model },
      choices: [{ ...choice, logprobs: { content: [{ ...top[0], top_logprobs: top }] } }],
      usage: { prompt_tokens: 20, completion_tokens: 1, total_tokens: 21 },
    }),
  }
}
