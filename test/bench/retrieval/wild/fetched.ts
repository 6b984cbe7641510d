import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { readerOf } from '../../../../core/find-reader.ts'
import { use } from '../../../../core/plugin.ts'
import { Reader, type Section } from '../../../../core/ports/reader.ts'
import documents from '../../../../plugins/readers/document.ts'
import { fitted } from '../../../fitted.ts'
import { type Collection, type Source, sources } from './sources.ts'

export interface WildDocument {
  readonly collection: Collection
  /** The package and the file's own name, such as `npm/npm-audit`. */
  readonly id: string
  readonly sections: readonly Section[]
}

const folder = join(tmpdir(), 'sealgate-bench-retrieval')

/** The documents of all packages as the readers read them. Throws where a package can't be had, or is another one. */
export const wildDocuments = async (): Promise<readonly WildDocument[]> => {
  const all: WildDocument[] = []
  for (const source of sources) all.push(...(await documentsOf(source)))
  return all
}

const documentsOf = async (source: Source): Promise<readonly WildDocument[]> => {
  const place = await unpacked(source)
  const { readers } = fitted(use(documents)).supply({ readers: Reader })
  const signal = new AbortController().signal
  const paths = readdirSync(place, { recursive: true, encoding: 'utf8' }).sort()
  const found: WildDocument[] = []
  for (const path of paths.filter((path) => source.files.test(path))) {
    const name = path.replace(/^.*\//, '')
    const raw = readFileSync(join(place, path))
    const file = name.endsWith('.json')
      ? { name: name.replace('.json', '.txt'), mime: 'text/plain', bytes: Buffer.from(licenceIn(raw)) }
      : { name, mime: '', bytes: raw }
    const { sections } = await readerOf(readers, file).read(file, signal)
    found.push({
      collection: source.collection,
      id: `${source.name}/${relative('.', name).replace(/(?:\.en)?\.\w+$/, '')}`,
      sections,
    })
  }
  return found
}

/** A licence with its name above it, as it is published. */
const licenceIn = (raw: Buffer): string => {
  const { name, licenseText } = JSON.parse(raw.toString()) as { name: string; licenseText: string }
  return `${name}\n\n${licenseText}`
}

const unpacked = async ({ name, url, sha256 }: Source): Promise<string> => {
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
    : (['tar', ['-xzf', archive, '-C', fresh]] as const)
  execFileSync(program, given)
  rmSync(archive)
  renameSync(fresh, place)
  return place
}
