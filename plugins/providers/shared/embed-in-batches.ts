import { tokensOf } from '../../../core/inference/metering/tokens.ts'
import { totalUsage } from '../../shared/total-usage.ts'
import type { EmbedCall, Embedded, Upstream } from '../../../core/ports/upstream.ts'

/** What a vendor takes in one request for vectors. */
interface BatchBounds {
  readonly texts: number
  /** By guess; as many as there are when absent. */
  readonly tokens?: number
}

/** The texts in their order, in lists that each fit one request. */
export function* batchesOf(
  texts: readonly string[],
  { texts: most, tokens: mostTokens = Infinity }: BatchBounds,
): Generator<readonly string[]> {
  let [from, tokens] = [0, 0]
  for (const [at, text] of texts.entries()) {
    const more = mostTokens === Infinity ? 0 : tokensOf(text)
    if (at > from && (at - from === most || tokens + more > mostTokens)) {
      yield texts.slice(from, at)
      ;[from, tokens] = [at, 0]
    }
    tokens += more
  }
  if (from < texts.length) yield texts.slice(from)
}

/** Vectors by as many requests as the texts need, one after another. */
export const embedInBatches =
  (embed: NonNullable<Upstream['embed']>, bounds: BatchBounds) =>
  async (call: EmbedCall, signal: AbortSignal): Promise<Embedded> => {
    const answers: Embedded[] = []
    for (const texts of batchesOf(call.texts, bounds)) answers.push(await embed({ ...call, texts }, signal))
    const usage = totalUsage(answers.map((answer) => answer.usage))
    return { ...answers.at(-1), vectors: answers.flatMap(({ vectors }) => vectors), usage }
  }
