import { readFile, writeFile } from 'node:fs/promises'
import { timeOf } from '../../local/option-values.ts'
import { releasesFormat } from '../../../plugins/sealed/evidence/releases.ts'

/** A release of a list; `digest` is its release digest in hex, and other members stay as they are. */
export interface Entry {
  readonly version: string
  readonly digest: string
  readonly state: string
}

/** The members of a list that this command reads; `serial` grows by one with each list. */
interface List {
  readonly format: string
  readonly name: string
  readonly serial: number
  readonly releases: readonly Entry[]
}

/** In ms. */
const day = 86_400_000
/** A list that counts for long would keep a withdrawn release accepted by clients that see no newer one. */
const mostDays = 90

/** Null when there is no list yet. Throws for a file of another format. */
const listIn = async (file: string): Promise<List | null> => {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null
    throw cause
  })
  const list = text === null ? null : (JSON.parse(text) as List)
  if (list !== null && list.format !== releasesFormat) throw new Error('the file is no list of releases')
  return list
}

/** A release in a file of its own. */
export const entryIn = async (file: string): Promise<Entry> => {
  const entry = JSON.parse(await readFile(file, 'utf8')) as Partial<Entry>
  const { version, digest } = entry
  if (typeof version !== 'string' || !/^[0-9a-f]{64}$/.test(digest ?? ''))
    throw new Error('--release names a file with version, digest, covers and images')
  return { ...entry, version, digest: digest!, state: 'current' }
}

export type ListingOptions = Partial<Record<'name' | 'days' | 'at', string | undefined>>

/**
 * Adds one release to a list, under the next serial. The new release is current, and the former current releases stay
 * accepted. The signatures of the older list no longer count.
 */
export const writeRelease = async (
  file: string,
  fresh: Entry,
  { name, days = String(mostDays), at }: ListingOptions,
): Promise<number> => {
  const lasts = Number(days)
  if (!(Number.isInteger(lasts) && lasts > 0 && lasts <= mostDays))
    throw new Error(`--days is a number up to ${mostDays}`)
  const issued = timeOf(at)
  const before = await listIn(file)
  const called = name ?? before?.name
  if (called === undefined) throw new Error('--name is needed for a first list')
  const others = (before?.releases ?? [])
    .filter(({ version }) => version !== fresh.version)
    .map((entry) => (entry.state === 'current' ? { ...entry, state: 'accepted' } : entry))
  const list = {
    format: releasesFormat,
    name: called,
    serial: (before?.serial ?? 0) + 1,
    issued,
    ends: issued + lasts * day,
    releases: [fresh, ...others],
  }
  await writeFile(file, `${JSON.stringify(list, null, 2)}\n`)
  await writeFile(`${file}.sig`, '[]\n')
  process.stdout.write(`✓ list ${list.serial} with ${list.releases.length} releases, to be signed\n`)
  return 0
}
