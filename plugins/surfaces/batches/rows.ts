import { type Caller, mayUse } from '../../../core/access/caller.ts'
import { BadRequest, NotFound, TooMany, Unavailable } from '../../../core/errors.ts'
import { kind, type MetadataStore, type Row } from '../../../core/ports/metadata-store.ts'

/** What a vendor keeps for a caller, under the vendor's own id. Nothing in the row comes from a text of the caller. */
export interface KeptThing {
  readonly organization: string
  readonly user: string
  readonly role: 'file' | 'batch'
  /** Whose routes it has. */
  readonly dialect: string
  readonly provider: string
  /** The name of its one model, as callers send it. */
  readonly model: string
  /** What the requests ask; null where a batch has one path. */
  readonly endpoint: string | null
  /** The batch whose results the file has; null for a file of requests. */
  readonly batch: string | null
  /** Sorts by time. */
  readonly at: string
  /** 1 once its results are booked, or can never come. */
  readonly booked: number
  /** The name of the mark that says so. */
  readonly by?: string
}

export const things = kind<KeptThing>('batches', [['organization', 'user', 'role', 'at']])

/** An id of a vendor, as it may stand in a path. */
export const idShape = /^[\w-]{1,128}$/

const missing = (): NotFound => new NotFound('No such batch or file', { code: 'not_found' })

/** The row of an id, where it is the caller's own. Throws NotFound for every other id. */
export const ownThing = async (
  store: MetadataStore,
  caller: Caller,
  id: string,
  is: (row: KeptThing) => boolean,
): Promise<KeptThing> => {
  const row = idShape.test(id) ? await store.get(things, id) : null
  if (row === null || !isOwn(row, caller) || !is(row)) throw missing()
  return row
}

const isOwn = ({ organization, user, model }: KeptThing, caller: Caller): boolean =>
  organization === caller.organization && user === caller.user && mayUse(caller, model)

/**
 * Keeps who owns what a vendor made. Throws Unavailable for an id that another owner has. `undo` ends at the vendor what a
 * store that fails would leave to nobody.
 */
export const keepThing = async (
  store: MetadataStore,
  id: unknown,
  row: KeptThing,
  undo?: (id: string) => Promise<unknown>,
): Promise<string> => {
  if (typeof id !== 'string' || !idShape.test(id)) throw new Unavailable('The backend gave no id')
  const isNew = await store.create(things, id, row).catch(async (fault: unknown) => {
    await undo?.(id)
    throw fault
  })
  if (isNew) return id
  const { organization, user } = (await store.get(things, id)) ?? {}
  if (organization !== row.organization || user !== row.user) throw new Unavailable('The backend gave an id twice')
  return id
}

/** Which part of a list is asked for. */
export interface PageOf {
  readonly limit: number
  /** The id behind which the page begins; absent for the newest. */
  readonly after?: string | undefined
  /** The id before which the page ends, where `after` is absent. */
  readonly before?: string | undefined
  /** `asc` has the oldest first. */
  readonly order?: 'asc' | 'desc' | undefined
  /** OpenAI's word for files of requests or of results; absent for both. */
  readonly purpose?: string | undefined
}

const purposeOf = ({ batch }: KeptThing): string => (batch === null ? 'batch' : 'batch_output')

/** Rows of one read for a page that passes over some, and the most that such a page reads. */
const [rowsOfRead, mostRead] = [200, 2000]

/** A page of a list, and whether there are more in its direction. Throws BadRequest for a page beside an id of others. */
export const ownThings = async (
  store: MetadataStore,
  caller: Caller,
  where: Pick<KeptThing, 'dialect'> & Partial<KeptThing>,
  { limit, after, before, order, purpose }: PageOf,
) => {
  const edge = after ?? before
  const isBack = after === undefined && before !== undefined
  const isUpward = isBack || order === 'asc'
  const beside = edge === undefined ? null : await store.get(things, idShape.test(edge) ? edge : '')
  if (edge !== undefined && (beside === null || !isOwn(beside, caller)))
    throw new BadRequest('Validation failed', {
      validator: { [isBack ? 'before' : 'after']: 'Expected an id of the list' },
    })
  const { organization, user } = caller
  const usable: Row<KeptThing>[] = []
  const fits = (row: KeptThing) => mayUse(caller, row.model) && (purpose ?? purposeOf(row)) === purposeOf(row)
  let offset = 0
  // A key that may use few models passes over the rows of all others, and a purpose over those of the other.
  while (usable.length <= limit && offset < mostRead) {
    const { rows } = await store.list(things, {
      where: { ...where, organization, user },
      ...(beside !== null && { between: { field: 'at', [isUpward ? 'from' : 'to']: beside.at } }),
      order: { by: 'at', descending: !isUpward },
      limit: purpose === undefined && caller.models === null ? limit + 2 : rowsOfRead,
      offset,
    })
    usable.push(...rows.filter(({ id, row }) => id !== edge && fits(row)))
    offset += rows.length
    if (rows.length < rowsOfRead) break
  }
  const page = usable.slice(0, limit)
  return { rows: isBack ? page.toReversed() : page, hasMore: usable.length > limit }
}

/** Batches of an owner whose results nobody read. */
const mostUnread = 100

/** Throws for an owner who reads no results: what a batch costs is booked when its results are read. */
export const refuseUnread = async (store: MetadataStore, { organization, user }: Caller): Promise<void> => {
  const where = { organization, user, role: 'batch', booked: 0 } as const
  const { total } = await store.list(things, { where, limit: 1, countTo: mostUnread })
  if (total >= mostUnread)
    throw new TooMany(`The results of ${mostUnread} batches are not read yet`, { code: 'batches_unread' })
}
