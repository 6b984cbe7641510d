import type { Fitting } from '../../../core/container.ts'
import { Guard } from '../../../core/ports/guard.ts'
import { chosenPlugin } from './load-plugin.ts'

/** Names of guards with their settings, in the order in which they see a request. */
export type NamedGuards = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The guards that `path` of a configuration names. */
export const guardsOf = (guards: NamedGuards = {}, path: readonly string[]): Promise<readonly Fitting<Guard>[]> =>
  Promise.all(
    Object.entries(guards).map(([name, settings]) =>
      chosenPlugin(Guard, 'guards', [...path, name], { ...settings, use: name }),
    ),
  )
