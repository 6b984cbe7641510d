import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { readerOf } from '../../../../../plugins/shared/find-reader.ts'
import { use } from '../../../../../core/plugin.ts'
import { Reader, type Section } from '../../../../../core/ports/reader.ts'
import documents from '../../../../../plugins/readers/document.ts'
import { fitted } from '../../../../fitted.ts'
import { unpacked } from '../../unpacked.ts'
import { type Collection, type Source, sources } from './sources.ts'

export interface WildDocument {
  readonly collection: Collection
  /** The package and the file's own name, such as `npm/npm-audit`. */
  readonly id: string
  readonly sections: readonly Section[]
}

/** The documents of all packages as the readers read them. Throws where a package can't be had, or is another one. */
export const wildDocuments = async (): Promise<readonly WildDocument[]> => {
  const all: WildDocument[] = []
  for (const source of sources) all.push(...(await documentsOf(source)))
  return all
}

const documentsOf = async (source: Source): Promise<readonly WildDocument[]> => {
  const place = unpacked(source)
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
