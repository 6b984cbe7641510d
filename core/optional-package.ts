import { Unconfigured } from './errors.ts'

/** An optional package, loaded when it is first needed. Where it was left out the error names it. */
export const engine = async <T>(name: string, load: () => Promise<T>): Promise<T> => {
  try {
    return await load()
  } catch (cause) {
    const { code } = cause as { code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
    throw new Unconfigured({ validator: { [name]: 'Expected to be installed' }, cause })
  }
}
