/** How SQLite, the system and PostgreSQL say that there is no room on the disk. */
const codes: ReadonlySet<unknown> = new Set(['SQLITE_FULL', 'ENOSPC', '53100'])

/** Whether a disk without room is among the causes of an error. */
export const isFullDisk = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if ('code' in error && codes.has(error.code)) return true
  return isFullDisk(error.cause) || (error instanceof AggregateError && error.errors.some(isFullDisk))
}
