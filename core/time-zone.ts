/** Whether this machine knows the time zone. */
export const isTimeZone = (name: string): boolean => {
  // The table of zones takes as long to load as twenty modules of ours.
  if (name === 'UTC') return true
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}
