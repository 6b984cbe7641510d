import type { Fitting } from '../../../core/container.ts'
import { Reader } from '../../../core/ports/reader.ts'
import type { Config } from './config.ts'
import { chosenPlugin, pluginNames } from './load-plugin.ts'

/** The readers that the configuration names, in its order, or all readers. Readers run inside the enclave. */
export const readersOf = async ({ readers }: Config): Promise<readonly Fitting<Reader>[]> => {
  const named = readers ?? Object.fromEntries(pluginNames('readers').map((name) => [name, {}]))
  return Promise.all(
    Object.entries(named).map(([name, settings]) =>
      chosenPlugin(Reader, 'readers', ['readers', name], { ...settings, use: name }),
    ),
  )
}
