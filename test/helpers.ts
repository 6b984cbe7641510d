import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Container, type Fitting, type Port } from '../core/container.ts'

/** A container with just these fittings in it. */
export const fitted = (...fittings: readonly Fitting<any>[]): Container => {
  const container = new Container()
  for (const fitting of fittings) container.fit(fitting)
  return container
}

/** What a fitting makes, with its needs met by the others. */
export const made = <T>(port: Port<T, false>, ...fittings: readonly Fitting<any>[]): T =>
  fitted(...fittings).supply({ it: port }).it as T

/** A folder of the test's own, whose path is short enough for sockets, wherever the tests themselves are. */
export const folderOf = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}
