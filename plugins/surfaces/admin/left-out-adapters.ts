import { Unconfigured } from '../../../core/errors.ts'
import { plugin } from '../../../core/plugin.ts'
import { Configuration } from './configuration.ts'
import { Drill } from './drill.ts'

/** Of a gateway that plays no faults. */
export const withoutDrill = plugin({
  port: Drill,
  name: 'without-drill',
  create: (): Drill => ({ scenes: [], async *play() {} }),
})

const noFile = async (): Promise<never> => {
  throw new Unconfigured({ validator: { configuration: 'Expected a configuration that can be read again' } })
}

/** Of a gateway whose settings come from code. */
export const withoutConfiguration = plugin({
  port: Configuration,
  name: 'without-configuration',
  create: (): Configuration => ({ inEffect: noFile, compare: noFile, check: noFile, try: noFile }),
})
