import { isDeepStrictEqual } from 'node:util'

/** Settings that a gateway keeps for as long as it runs. */
export const fixedSettings = [
  'env',
  'names',
  'prefix',
  'surfaces',
  'testKeys',
  'trustedProxies',
  'operators',
  'connections',
] as const

/** The first of the paths at which the two configurations differ. */
export const firstDifference = (paths: readonly string[], one: object, other: object): string | null =>
  paths.find((path) => !isDeepStrictEqual(at(one, path), at(other, path))) ?? null

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce((there, name) => (there as Readonly<Record<string, unknown>> | undefined)?.[name], value)
