import type { Settings } from '../settings.ts'

/** What to say of a path that no route has: the usual slips of a base URL are named. */
export const lost = (path: string, { names: { compat, std } }: Settings): string => {
  if (path.startsWith(`/${compat}/v1/v1/`)) return `Not found: the base URL ends in /${compat}, without /v1`
  if (path.startsWith(`/${std}/v1/`)) return `Not found: the base URL ends in /${std}, without /v1`
  return 'Not found'
}
