import pg from 'pg'
import * as v from 'valibot'

const beginning = /^postgres(ql)?:\/\//

/**
 * False where the driver would throw. Files that the address names may be missing where it is only checked, and another
 * beginning is a fault of its own.
 */
const isReadable = (address: string): boolean => {
  if (!beginning.test(address)) return true
  try {
    new pg.Client(address)
    return true
  } catch (fault) {
    return !(fault instanceof TypeError || fault instanceof URIError)
  }
}

/** The address of a PostgreSQL, with the user, the password and the database in it. */
export const postgresAddress = v.pipe(
  v.string(),
  v.regex(beginning, 'an address that begins with postgres://'),
  v.check(isReadable, 'an address whose password has %2F %3F %23 %25 for / ? # %'),
)
