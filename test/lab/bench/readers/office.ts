import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Format, folder, type Sampled } from './documents.ts'
import { printed } from './program.ts'

/** All sheets as they are shown, one file for each. */
const sheets = 'csv:Text - txt - csv (StarCalc):9,34,76,1,,0,false,true,false,false,false,-1'

const filters: Partial<Record<Format, string>> = {
  ...{ xlsx: sheets, xls: sheets, ods: sheets },
  ...{ pptx: 'odp', ppt: 'odp', odp: 'odp' },
}

/** How many files one start of LibreOffice reads; where it breaks, the files are read one by one. */
const together = 20

/** Files as LibreOffice reads them. Slides become OpenDocument, whose text odt2txt prints. */
export const officeTexts = async (files: readonly Sampled[], format: Format): Promise<readonly (string | null)[]> => {
  const texts: (string | null)[] = []
  for (let at = 0; at < files.length; at += together) {
    const all = files.slice(at, at + together)
    const read = await readTogether(all, format)
    const isBroken = read.filter((text) => text === null).length > all.length / 2
    if (!isBroken) texts.push(...read)
    else for (const file of all) texts.push(...(await readTogether([file], format)))
  }
  return texts
}

const readTogether = async (files: readonly Sampled[], format: Format): Promise<readonly (string | null)[]> => {
  const made = await converted(
    files.map(({ hash, bytes }) => ({ name: `${hash}.${format}`, bytes })),
    filters[format] ?? 'txt:Text (encoded):UTF8',
  )
  try {
    const texts: (string | null)[] = []
    for (const { hash } of files) {
      const parts = made.files.filter((path) => path.includes(hash))
      if (parts.length === 0) texts.push(null)
      else if (parts[0]!.endsWith('.odp'))
        texts.push((await printed('odt2txt', [parts[0]!]))?.replace(/\[-- Image: .*? --\]/g, '') ?? null)
      else texts.push(parts.map((path) => readFileSync(path, 'utf8')).join('\n'))
    }
    return texts
  } finally {
    made.remove()
  }
}

export interface Named {
  readonly name: string
  readonly bytes: Uint8Array
}

/** The files that LibreOffice makes of others; none where it can't. */
export const converted = async (given: readonly Named[], filter: string) => {
  mkdirSync(folder, { recursive: true })
  const place = mkdtempSync(join(folder, 'office-'))
  const paths = given.map(({ name }) => join(place, name))
  for (const [at, { bytes }] of given.entries()) writeFileSync(paths[at]!, bytes)
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`
  const made = join(place, 'made')
  const wait = 60_000 + 15_000 * given.length
  await printed('soffice', [profile, '--headless', '--convert-to', filter, '--outdir', made, ...paths], wait)
  const files = listed(made).map((name) => join(made, name))
  return { files, remove: () => rmSync(place, { recursive: true, force: true }) }
}

const listed = (place: string): readonly string[] => {
  try {
    return readdirSync(place).sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
