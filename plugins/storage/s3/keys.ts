import { BadRequest } from '../../../core/errors.ts'

/** True when this store may have written the key. */
export const isOwnKey = (key: string): boolean =>
  key.length <= 1024 && key.split('/').every((segment) => /^(?!\.\.?$)[\w.-]+$/.test(segment))

/** The key of a path. Throws BadRequest. */
export const keyOf = (path: string): string => {
  if (!isOwnKey(path)) throw new BadRequest('Invalid path')
  return path
}
