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

/** What the work fails with; null where it does not fail. */
export const failed = (work: PromiseLike<unknown>): Promise<any> =>
  Promise.resolve(work).then(
    () => null,
    (fault: unknown) => fault,
  )

/** Whether the work goes well. */
export const succeeds = (work: PromiseLike<unknown>): Promise<boolean> =>
  Promise.resolve(work).then(
    () => true,
    () => false,
  )

/** No program is found until the test is over. */
export const withoutPrograms = (t: Test): void => {
  const path = process.env['PATH']
  process.env['PATH'] = '/nowhere'
  t.teardown(() => void (process.env['PATH'] = path))
}
