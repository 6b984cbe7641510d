import { Unconfigured } from './errors.ts'
import { plugin } from './plugin.ts'
import { Configuration } from './ports/configuration.ts'

const none = async (): Promise<never> => {
  throw new Unconfigured({ validator: { configuration: 'Expected a configuration that can be read again' } })
}

/** Of a gateway whose settings come from code. */
export const withoutConfiguration = plugin({
  port: Configuration,
  name: 'without-configuration',
  create: (): Configuration => ({ inEffect: none, compare: none, check: none }),
})
