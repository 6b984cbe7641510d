import { Container, type Fitting, type Port } from '../core/container.ts'
import { plugin, use } from '../core/plugin.ts'

/** A container with just these fittings in it. */
export const fitted = (...fittings: readonly Fitting<any>[]): Container => {
  const container = new Container()
  for (const fitting of fittings) container.fit(fitting)
  return container
}

/** What a fitting makes, with its needs met by the others. */
export const made = <T>(port: Port<T, false>, ...fittings: readonly Fitting<any>[]): T =>
  fitted(...fittings).supply({ port }).port as T

/** What a test gives in the place of a plugin. */
export const given = <T>(port: Port<T>, name: string, create: () => NoInfer<T>): Fitting<T> =>
  use(plugin({ port, name, create }))
