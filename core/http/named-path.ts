import type { Settings } from '../settings.ts'

/** The path as it is served: the families under their configured names. */
export const namedPath = (path: string, { names }: Pick<Settings, 'names'>): string =>
  path.replace(/^\/(compat|std|v1)(?=\/)/, (_, family: keyof typeof names) => `/${names[family]}`)
