import { type Kind, type MetadataStore, type Row, kind } from '../../../core/ports/metadata-store.ts'

/** Kinds that a client may reveal for its lists; the gateway never looks into a file. */
export const fileTypes = ['image', 'document', 'video', 'audio', 'archive', 'general'] as const
export type FileType = (typeof fileTypes)[number]

const ragStatuses = ['none', 'pending', 'running', 'completed', 'failed'] as const
/** `pending`: waits for its indexing. `running`: the enclave has begun. `failed`: an index made before stays. */
export type RagStatus = (typeof ragStatuses)[number]

/** The owner of a file. To other owners, the file does not exist. */
export interface Owner {
  readonly organization: string
  readonly user: string
}

/** The client's description of a file. Only fields that the client chose to reveal are in the clear. */
export interface Labels {
  /** `1`: sealed in one piece. `2`: sealed in chunks. The store treats both alike. */
  readonly version: string
  /** The client's name of the KEK that wraps the file's key. */
  readonly kid: string
  /** In hex. */
  readonly wrapped_dek: string
  /** The sealed name, in hex. */
  readonly original_name: string
  /** The sealed type, in hex. */
  readonly mime_type: string
  /** Null when the file takes no part in the search for duplicates. */
  readonly client_hash: string | null
  /** A keyed tag for the client's search by name. */
  readonly name_tag: string | null
  readonly type_hint: FileType
  /** Proves to the client that the record is its own; null or absent when the file is not bound. */
  readonly binding?: string | null
}

/** A stored file. The id is the row's own, and the owner's names are in the clear. */
export interface FileRow extends Owner, Labels {
  /** The last part of the path. */
  readonly file_name: string
  readonly file_path: string
  /** In bytes of the sealed content. */
  readonly file_size: number
  /** False for incognito files. */
  readonly listed: boolean
  /** In Unix ms, like the other times of the row. */
  readonly created_at: number
  readonly updated_at: number | null
  /** Incognito files expire. */
  readonly expires_at: number | null
  readonly rag_status: RagStatus
  /** Why the last indexing failed, as one word; rows of 1.x lack it. */
  readonly rag_error?: string | null
  /** `pending` and `running` are leases: the keys are lost together with the process that held them. */
  readonly rag_until: number | null
  /** The path of the index; each indexing has a new one. */
  readonly rag_path: string | null
}

/** The indexes serve the list, its filter by type, the search for indexed files, and the sweep. */
export const files = kind<FileRow>('file', [
  ['organization', 'user', 'listed', 'created_at'],
  ['organization', 'user', 'listed', 'type_hint', 'created_at'],
  ['organization', 'user', 'rag_status'],
  ['expires_at'],
])

/** All rows of a kind by their ids, which are read page by page. */
export const everyRow = async function* <T>(rows: MetadataStore, of: Kind<T>): AsyncGenerator<Row<T>> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const page: readonly Row<T>[] = (await rows.list(of, { after, limit: 500, countTo: 1 })).rows
    yield* page
    after = page.at(-1)?.id
  }
}

/** True for an incognito file whose time is over: it exists for nobody, though its record stays until the sweep. */
export const isOver = ({ expires_at }: FileRow, now: number): boolean => expires_at != null && expires_at <= now

/** A lease that has ended means that its process died: the indexing failed. */
const ragStatusOf = ({ rag_status, rag_until }: FileRow, now: number): RagStatus =>
  rag_until !== null && rag_until < now && (rag_status === 'running' || rag_status === 'pending')
    ? 'failed'
    : rag_status

/** The word of a failed indexing; `interrupted` when its process died. */
const ragErrorOf = ({ rag_status, rag_error }: FileRow): string =>
  rag_status === 'failed' ? (rag_error ?? 'unavailable') : 'interrupted'

/** The record in the interface's form. */
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
  rag_error: ragStatusOf(row, now) === 'failed' ? ragErrorOf(row) : null,
})

/** `YYYY-MM-DD HH:MM:SS.mmm`, UTC. */
const timestamp = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').replace('Z', '')

/** A folder name that every store accepts. Two owners may share a folder, since only the id identifies a file. */
const folder = (name: string): string => name.replace(/[^\w.-]/g, '_').replace(/^\.+$/, '_')

/** Where the bytes of a file lie in the blob store. */
export const pathOf = ({ organization, user }: Owner, name: string): string =>
  `encrypted/${folder(organization)}/${folder(user)}/${name}`

/** Where each index of a file begins; no other file's does. The sweep lists both places. */
export const indexPrefixOf = ({ organization, user, file_name }: FileRow): string =>
  `index/${folder(organization)}/${folder(user)}/${file_name.replace(/\.enc$/, '')}.`

const prefix = 'file_'

/** The id of a file that the gateway names itself. */
export const idOf = (uuid: string): string => `${prefix}${uuid}`

/**
 * The name of stored bytes. It begins with the client's chosen id. An id that is sent twice never names the same bytes.
 */
export const nameOf = (uuid: string, id: string | null): string =>
  id === null ? `${uuid}.enc` : `${id.slice(prefix.length)}.${uuid}.enc`

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
const chosen = new RegExp(`^${prefix}${uuid}$`)
const stored = new RegExp(`(?:^|/)(${uuid})(?:\\.${uuid}){0,2}\\.(?:enc|idx)$`)

/** In Unix ms: the first 48 bits of a UUID of version 7. */
const timeOf = (uuid: string): number => parseInt(uuid.replace('-', '').slice(0, 12), 16)

/** In ms: the tolerated error of a client's clock when the client chooses an id. */
const skew = 3_600_000

/** True when a client may have chosen this id just now. */
export const isTimely = (id: string, now: number): boolean =>
  chosen.test(id) && Math.abs(timeOf(id.slice(prefix.length)) - now) <= skew

/** The file of stored bytes, and the start of their upload. Null for bytes of another writer. */
export const belonging = (path: string): { readonly id: string; readonly since: number } | null => {
  const first = stored.exec(path)?.[1]
  if (first === undefined) return null
  // The last UUID is the gateway's own. The client's UUID may name another time, and an index is newer than its file.
  const last = path.split('/').at(-1)?.split('.').at(-2) ?? ''
  return { id: idOf(first), since: timeOf(last) }
}
