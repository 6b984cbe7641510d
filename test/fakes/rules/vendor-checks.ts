type Json = Record<string, any>

const blocksOf = ({ content }: Json): readonly Json[] => (Array.isArray(content) ? content : [])
const turnsOf = ({ messages }: Json): readonly Json[] => messages ?? []
const partsIn = ({ parts }: Json, member: string): readonly Json[] =>
  (parts ?? []).filter((value: Json) => member in value)
const members = new Set(['role', 'content', 'tool_calls', 'tool_call_id', 'name', 'prefix'])

/** Whether the results in the next turn are those of the calls in this one. */
const areAnswered = (turn: Json, next: Json | undefined): boolean => {
  const calls = blocksOf(turn).filter(({ type }) => type === 'tool_use')
  const results = blocksOf(next ?? {}).slice(0, calls.length)
  return calls.every(({ id }) => results.some(({ type, tool_use_id }) => type === 'tool_result' && tool_use_id === id))
}

/** Rules of Anthropic, Google, Mistral and Groq, which a request keeps where its check is true. */
export const vendorChecks = {
  bounded: ({ max_tokens: most }: Json) => Number.isInteger(most) && most > 0,
  sides: (asked: Json) => turnsOf(asked).every(({ role }) => role === 'user' || role === 'assistant'),
  answered: (asked: Json) => turnsOf(asked).every((turn, at, all) => areAnswered(turn, all[at + 1])),
  signed: (asked: Json) =>
    turnsOf(asked)
      .flatMap(blocksOf)
      .every(({ type, signature }) => type !== 'thinking' || (typeof signature === 'string' && signature !== '')),
  budget: ({ thinking, max_tokens: most }: Json) =>
    thinking?.budget_tokens === undefined || (thinking.budget_tokens >= 1024 && thinking.budget_tokens < most),
  unsampled: ({ thinking, temperature = 1, top_k }: Json) =>
    !/enabled|adaptive/.test(thinking?.type ?? '') || (temperature === 1 && top_k === undefined),
  speakers: ({ contents }: Json) => contents.every(({ role = 'user' }: Json) => role === 'user' || role === 'model'),
  responded: ({ contents }: Json) =>
    contents.every((turn: Json, at: number) => {
      const calls = partsIn(turn, 'functionCall').length
      return calls === 0 || partsIn(contents[at + 1] ?? {}, 'functionResponse').length === calls
    }),
  filled: ({ contents }: Json) => contents.every(({ parts }: Json) => Array.isArray(parts) && parts.length > 0),
  nine: (asked: Json) =>
    turnsOf(asked)
      .flatMap(({ tool_calls, tool_call_id }) => [...(tool_calls ?? []).map(({ id }: Json) => id), tool_call_id ?? []])
      .flat()
      .every((id) => /^[a-zA-Z0-9]{9}$/.test(id)),
  last(asked: Json) {
    const { role, prefix } = turnsOf(asked).at(-1) ?? {}
    return role === 'user' || role === 'tool' || prefix === true
  },
  plain: (asked: Json) => turnsOf(asked).every((turn) => Object.keys(turn).every((name) => members.has(name))),
  oddless: ({ logprobs, top_logprobs, logit_bias }: Json) =>
    [logprobs, top_logprobs, logit_bias].every((value) => value == null),
  nameless: (asked: Json) => turnsOf(asked).every(({ name }) => name === undefined),
  single: ({ n = 1 }: Json) => n === 1,
} as const
