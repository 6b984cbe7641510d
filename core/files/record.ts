import { kind } from '../ports/metadata-store.ts'

export const fileTypes = ['image', 'document', 'video', 'audio', 'archive', 'general'] as const
export type FileType = (typeof fileTypes)[number]

const ragStatuses = ['none', 'pending', 'running', 'completed', 'failed'] as const
export type RagStatus = (typeof ragStatuses)[number]

/** Whose file it is. Another owner's file does not exist. */
export interface Owner {
  readonly organization: string
  readonly user: string
}

/** What the client says of a file: nothing of it is in the clear but what it chose to tell. */
export interface Labels {
  readonly version: string
  readonly kid: string
  readonly wrapped_dek: string
  /** Sealed name, as hex. */
  readonly original_name: string
  readonly mime_type: string
  /** Null for files that take no part in the search for duplicates. */
  readonly client_hash: string | null
  /** A keyed tag by which the client may search for the name. */
  readonly name_tag: string | null
  readonly type_hint: FileType
  /** By which the client knows that the record is its own; null or absent for files that are not bound. */
  readonly binding?: string | null
}

export interface FileRow extends Owner, Labels {
  readonly file_name: string
  readonly file_path: string
  /** Of the sealed content. */
  readonly file_size: number
  /** False for incognito files. */
  readonly listed: boolean
  readonly created_at: number
  readonly updated_at: number | null
  /** Incognito files go by themselves. */
  readonly expires_at: number | null
  readonly rag_status: RagStatus
  /** `pending` and `running` are leases: the keys are gone when the one who held them is. */
  readonly rag_until: number | null
  /** Where the index is; a new one for each indexing. */
  readonly rag_path: string | null
}

export const files = kind<FileRow>('file', [
  ['organization', 'user', 'listed', 'created_at'],
  ['organization', 'user', 'listed', 'type_hint', 'created_at'],
  ['organization', 'user', 'rag_status'],
  ['expires_at'],
])

const ragStatusOf = ({ rag_status, rag_until }: FileRow, now: number): RagStatus =>
  rag_until !== null && rag_until < now && (rag_status === 'running' || rag_status === 'pending')
    ? 'failed'
    : rag_status

/** The record as the interface shows it. */
export const printed = (id: string, row: FileRow, now: number, duplicate = false) => ({
  id,
  version: row.version,
  kid: row.kid,
  wrapped_dek: row.wrapped_dek,
  file_name: row.file_name,
  file_path: row.file_path,
  file_size: row.file_size,
  type: 'encrypted',
  mime_type: row.mime_type,
  is_duplicate: duplicate,
  created_at: timestamp(row.created_at),
  updated_at: row.updated_at === null ? null : timestamp(row.updated_at),
  original_name: row.original_name,
  client_hash: row.client_hash,
  binding: row.binding ?? null,
  name_tag: row.name_tag,
  type_hint: row.type_hint,
  rag_status: ragStatusOf(row, now),
})

/** `YYYY-MM-DD HH:MM:SS.mmm`, UTC. */
const timestamp = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').replace('Z', '')

/** A folder's name that every store takes. Two owners may share one: files are found by their id alone. */
const folder = (name: string): string => name.replace(/[^\w.-]/g, '_').replace(/^\.+$/, '_')

export const pathOf = ({ organization, user }: Owner, name: string): string =>
  `encrypted/${folder(organization)}/${folder(user)}/${name}`

export const indexPathOf = ({ organization, user }: Owner, name: string): string =>
  `index/${folder(organization)}/${folder(user)}/${name}`

const prefix = 'file_'

export const idOf = (uuid: string): string => `${prefix}${uuid}`

/** Of stored bytes. An id that the client chose comes first: sent twice, it never names the same bytes. */
export const nameOf = (uuid: string, id: string | null): string =>
  id === null ? `${uuid}.enc` : `${id.slice(prefix.length)}.${uuid}.enc`

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
const chosen = new RegExp(`^${prefix}${uuid}$`)
const stored = new RegExp(`(?:^|/)(${uuid})(?:\\.${uuid}){0,2}\\.(?:enc|idx)$`)

const timeOf = (uuid: string): number => parseInt(uuid.replace('-', '').slice(0, 12), 16)

/** Ms by which the clock of a client that chooses an id may be wrong. */
const skew = 3_600_000

/** Whether a client may have chosen this id just now. */
export const isTimely = (id: string, now: number): boolean =>
  chosen.test(id) && Math.abs(timeOf(id.slice(prefix.length)) - now) <= skew

/** The file that stored bytes belong to, and when their upload began; null for bytes of another writer. */
export const belonging = (path: string): { readonly id: string; readonly since: number } | null => {
  const first = stored.exec(path)?.[1]
  if (first === undefined) return null
  // The last one is the gateway's own: the client's may tell another time, and an index comes later than its file.
  const last = path.split('/').at(-1)?.split('.').at(-2) ?? ''
  return { id: idOf(first), since: timeOf(last) }
}
