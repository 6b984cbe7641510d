import type { Use } from '../../errand.ts'
import { total } from './tokens.ts'

/** All uses as one, by the name of the last. */
export const summed = (uses: readonly Use[]) => {
  const { model = null, backend = null } = uses.at(-1) ?? {}
  const told = uses.flatMap(({ usage }) => (usage === null ? [] : [usage]))
  const heard = uses.flatMap(({ audioSeconds }) => (audioSeconds === null ? [] : [audioSeconds]))
  return {
    model,
    backend,
    usage: told.length === 0 ? null : total(told),
    audioSeconds: heard.length === 0 ? null : heard.reduce((sum, seconds) => sum + seconds, 0),
  }
}
