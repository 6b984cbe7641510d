import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A folder of the test's own, whose path is short enough for sockets, wherever the tests themselves are. */
export const folderOf = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}
