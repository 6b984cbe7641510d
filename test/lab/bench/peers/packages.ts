import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A package of the folder that the bench installed; its types are what the caller says. */
export const packaged = createRequire(join(process.env['PACKAGES']!, 'package.json')) as <Exports>(
  name: string,
) => Exports
