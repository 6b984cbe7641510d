import type { Fetch } from '../../core/ports/platform.ts'

const closed = (): never => {
  throw new Error('No door is open here')
}

/** The doors of a gateway that reaches nobody. */
export const closedDoors: Fetch = { upstream: closed, outside: closed }
