import { BadRequest } from '../../../core/errors.ts'

/** The one range that is asked for, as first and last byte; null for the whole, which several ranges are answered with too. */
export const rangeOf = (header: string | undefined, size: number): { start: number; end: number } | null => {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (found === null || (found[1] === '' && found[2] === '')) return null
  const last = size - 1
  const start = found[1] === '' ? Math.max(0, size - Number(found[2])) : Number(found[1])
  const end = found[1] === '' || found[2] === '' ? last : Math.min(last, Number(found[2]))
  if (start > end || start > last || (found[1] === '' && Number(found[2]) === 0))
    throw new BadRequest('The range is not within the file', { validator: { range: 'Expected bytes of the file' } })
  return { start, end }
}
