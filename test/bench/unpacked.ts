import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A package of npm or Debian, pinned by the hash of its archive. */
export interface Packaged {
  readonly name: string
  readonly url: string
  readonly sha256: string
}

const folder = join(tmpdir(), 'sealgate-bench-packages')

/** The folder of the package's files, fetched once on a machine. Throws where the package can't be had, or is another one. */
export const unpacked = async ({ name, url, sha256 }: Packaged): Promise<string> => {
  const place = join(folder, `${name}-${sha256.slice(0, 12)}`)
  if (existsSync(place)) return place
  const answer = await fetch(url)
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) throw new Error(`${url} is not the package it was`)
  const fresh = `${place}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  const archive = `${fresh}.archive`
  writeFileSync(archive, bytes)
  const [program, given] = url.endsWith('.deb')
    ? (['dpkg-deb', ['-x', archive, fresh]] as const)
    : (['tar', ['-xf', archive, '-C', fresh]] as const)
  execFileSync(program, given)
  rmSync(archive)
  renameSync(fresh, place)
  return place
}
