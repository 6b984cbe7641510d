import { usageOf } from '../../core/dialects/chat-completions.ts'
import type { Consumption } from '../../core/inference/metering/consumption.ts'
import type { Served } from '../../core/inference/task.ts'
import type { WireUsage } from '../../core/ports/upstream.ts'

/** As the backend counted. What it did not count is guessed, a token for four characters; a guess of its own is the least. */
export const usedByChat = (
  input: number,
  told: WireUsage | null | undefined,
  characters: number,
  broken?: Served['broken'],
): Consumption => {
  const output = Math.ceil(characters / 4)
  const used = usageOf(told)
  if (used === null) return { input, output, estimated: true }
  const whole = used.estimated === true ? { ...used, output: Math.max(used.output, output) } : used
  if (broken === undefined) return whole
  return { ...whole, broken: broken.map(({ by, upTo }) => ({ by, upTo: usageOf(upTo) ?? { input: 0, output: 0 } })) }
}
