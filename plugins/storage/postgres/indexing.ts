import pg from 'pg'
import type { Clock } from '../../../core/ports/platform.ts'
import type { Client, Reach } from './pool.ts'
import type { Index } from './schema.ts'

/** The lock of indexing: PostgreSQL builds one index of a table at a time. */
const indexingLock = 7_311_002
/** In ms, between two tries of the lock. A client that waits inside the server would block the build. */
const lockPause = 50

/** Rows can be written during the build, which therefore cannot run inside a transaction. */
const build = async (client: Client, { name, definition }: Index): Promise<void> => {
  const validity = 'select indisvalid from pg_index where indexrelid = to_regclass($1)'
  const [found] = (await client.query<{ indisvalid: boolean }>(validity, [name])).rows
  if (found?.indisvalid) return
  // An interrupted build leaves an invalid index, which is dropped first.
  if (found) await client.query(`drop index concurrently if exists ${name}`)
  await client.query(`create index concurrently if not exists ${definition}`)
}

/** Builds the indexes while other work continues. An index changes the speed of a listing and never its result. */
export const buildIndexes = async (
  reach: Reach,
  clock: Clock,
  indexes: readonly Index[],
  signal: AbortSignal,
): Promise<void> => {
  const client = new pg.Client(reach)
  // The running query reports the error.
  client.on('error', () => {})
  try {
    await client.connect()
    const lock = () => client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [indexingLock])
    while (!(await lock()).rows[0]?.mine) await clock.sleep(lockPause, signal)
    for (const index of indexes) {
      signal.throwIfAborted()
      await build(client, index)
    }
  } finally {
    await client.end()
  }
}
