import type { ModelUse } from '../shared/errand.ts'
import { totalUsage } from '../shared/total-usage.ts'

/** All uses as one, by the name of the last. */
export const summedUses = (uses: readonly ModelUse[]) => {
  const { model = null, backend = null, proven } = uses.at(-1) ?? {}
  const told = uses.flatMap(({ usage }) => (usage === null ? [] : [usage]))
  const heard = uses.flatMap(({ audioSeconds }) => (audioSeconds === null ? [] : [audioSeconds]))
  return {
    model,
    backend,
    ...(proven && { proven }),
    usage: told.length === 0 ? null : totalUsage(told),
    audioSeconds: heard.length === 0 ? null : heard.reduce((sum, seconds) => sum + seconds, 0),
  }
}
