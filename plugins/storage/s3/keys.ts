import { BadRequest } from '../../../core/errors.ts'

/** Whether a key of the bucket is one that this store may have written. */
export const isOwnKey = (key: string): boolean =>
  key.length <= 1024 && key.split('/').every((it) => /^(?!\.\.?$)[\w.-]+$/.test(it))

/** The key of a path; throws BadRequest. */
export const keyOf = (path: string): string => {
  if (!isOwnKey(path)) throw new BadRequest('Invalid path')
  return path
}
