import * as v from 'valibot'

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const beginning = /^rediss?:\/\/./

/** False where the driver would throw, with the password in its error. Another beginning is a fault of its own. */
const isReadable = (address: string): boolean => {
  if (!beginning.test(address)) return true
  if (!URL.canParse(address)) return false
  const { username, password, pathname } = new URL(address)
  return /^(?:\/\d*)?$/.test(pathname) && isDecodable(username) && isDecodable(password)
}

/** The address of a Redis, with the password and the number of the database in it. */
export const redisAddress = v.pipe(
  v.string(),
  v.regex(beginning, 'an address that begins with redis:// or rediss://'),
  v.check(
    isReadable,
    'an address whose password has %2F %3F %23 %25 for / ? # %, with at most the number of a database behind the port',
  ),
)
