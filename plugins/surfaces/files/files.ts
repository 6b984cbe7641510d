import * as v from 'valibot'
import { UploadFields } from '../../sealed/files/upload.ts'
import { FileStore } from '../../sealed/files/file-store.ts'
import { Indexing } from '../../sealed/files/indexing.ts'
import { type FileRow, fileTypes, printed } from '../../sealed/files/record.ts'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { enveloped, bytes, data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { Clock, Log } from '../../../core/ports/platform.ts'
import { pageOfList, pageQuery, placeOf } from '../shared/pagination.ts'
import { grantOf } from '../shared/grant.ts'
import { momentShape, inDateRange } from '../shared/date-range.ts'

const sending = lazy(() => import('./sent-file.ts'))
const ranges = lazy(() => import('./range.ts'))

/** The field of the sealed content. */
const big = 'encrypted_content'

const word = v.nullable(v.string())
/** The record of a file. The client sealed its name and media type, so the gateway cannot read them. */
export const kept = v.object({
  id: v.string(),
  version: v.string(),
  kid: v.string(),
  wrapped_dek: v.string(),
  file_name: v.string(),
  file_path: v.string(),
  file_size: v.number(),
  type: v.literal('encrypted'),
  mime_type: v.string(),
  is_duplicate: v.boolean(),
  created_at: v.string(),
  updated_at: word,
  original_name: v.string(),
  client_hash: word,
  binding: word,
  name_tag: word,
  type_hint: v.picklist(fileTypes),
  rag_status: v.string(),
  rag_error: word,
})

const hexContent = v.pipe(v.string(), v.description('The sealed content as hex'))
const rawContent = v.pipe(
  v.string(),
  v.description('The sealed content: a file with its bytes as they are, or a text field with hex'),
)

const upload = route({
  method: 'POST',
  path: '/files/encrypted/upload',
  summary: 'Stores a file that was sealed by the client: as JSON with the content in hex, or as a form with raw bytes.',
  access: { scope: 'files.encrypted.create' },
  body: {
    read: 'stream',
    schema: v.object({ [big]: hexContent, ...UploadFields.entries }),
    form: v.object({ [big]: rawContent, ...UploadFields.entries }),
  },
  answer: enveloped(kept),
  needs: { fileStore: FileStore, indexing: Indexing, clock: Clock, log: Log },
  async handle({ id: request, caller, headers, bytes, signal }, { fileStore, indexing, clock, log }) {
    const { partsOf } = await sending()
    const { id, row, duplicate, keys } = await fileStore.receive(caller, partsOf(headers, bytes, big), signal)
    if (keys === null) return data(printed(id, row, clock.now(), duplicate))
    await indexing.announce(id)
    // Where a store fails before the indexing begins, the announced record says `failed` once its time is over.
    indexing
      .begin(grantOf(request, caller), [{ ...keys, file_id: id, s3_r2_path: row.file_path }])
      .catch((cause: unknown) => log.error('index.lost', { request }, cause))
    return data(printed(id, await fileStore.find(caller, id), clock.now()))
  },
})

const list = route({
  method: 'GET',
  path: '/files/encrypted',
  summary: 'Lists the files of the key’s organisation and user, newest first.',
  access: { scope: 'files.encrypted.read' },
  query: v.object({
    ...pageQuery,
    search: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
    type: v.optional(v.picklist(fileTypes)),
    from: v.optional(momentShape(false)),
    to: v.optional(momentShape(true)),
  }),
  answer: enveloped(v.object({ files: v.array(kept), pagination: pageOfList })),
  needs: { fileStore: FileStore, clock: Clock },
  async handle({ query, caller }, { fileStore, clock }) {
    const { limit, offset, search, type, from, to } = query
    const { rows, total } = await fileStore.list(caller, {
      ...(type !== undefined && { where: { type_hint: type } }),
      ...inDateRange<FileRow>('created_at', from, to),
      // A file's id is its stored name but for what stands around it.
      ...(search !== undefined && {
        contains: { text: search.replace(/^file_(?=.)/i, ''), fields: ['kid', 'file_name', 'name_tag'] },
      }),
      order: { by: 'created_at', descending: true },
      limit,
      offset,
    })
    await freeTurn()
    const files = rows.map(({ id, row }) => printed(id, row, clock.now()))
    return data({ files, pagination: placeOf(query, files.length, total) })
  },
})

const amounts = v.object({ bytes: v.nullable(v.number()), files: v.nullable(v.number()) })

const stored = route({
  method: 'GET',
  path: '/files/storage',
  summary: 'What the key’s organisation stores, and how much it may store.',
  access: { scope: 'files.encrypted.read' },
  answer: enveloped(v.object({ stored: v.object({ bytes: v.number(), files: v.number() }), quota: amounts })),
  needs: { fileStore: FileStore },
  handle: async ({ caller }, { fileStore }) => data(await fileStore.storage(caller)),
})

const get = route({
  method: 'GET',
  path: '/files/encrypted/{id}',
  summary: 'The record of one file; with `url=true` also a short-lived link to its bytes where the store gives one.',
  access: { scope: 'files.encrypted.read' },
  query: v.object({ url: v.optional(v.picklist(['true', 'false']), 'false') }),
  needs: { fileStore: FileStore, clock: Clock },
  async handle({ params, query, caller }, { fileStore, clock }) {
    const id = params.id
    const row = await fileStore.find(caller, id)
    const record = printed(id, row, clock.now())
    if (query.url === 'false') return data(record)
    const link = await fileStore.link(row)
    const expires = link && new Date(clock.now() + link.ttl).toISOString()
    return data({ ...record, url: link?.url ?? null, url_expires_at: expires })
  },
})

const content = route({
  method: 'GET',
  path: '/files/encrypted/{id}/content',
  summary: 'The sealed bytes of a file, or a range of them.',
  access: { scope: 'files.encrypted.read' },
  needs: { fileStore: FileStore },
  async handle({ params, headers, caller, signal }, { fileStore }) {
    const { rangeOf } = await ranges()
    const row = await fileStore.find(caller, params.id)
    const etag = `"${row.file_name}"`
    const { 'if-range': wanted = etag } = headers
    // A range of other bytes than the caller has begun with would not fit them.
    const range = wanted === etag ? rangeOf(headers.range, row.file_size) : null
    const body = await fileStore.content(row, range, signal)
    const always = { 'accept-ranges': 'bytes', 'cache-control': 'private, no-store', etag }
    const type = 'application/octet-stream'
    if (range === null) return bytes(body, type, row.file_size, 200, always)
    const { start, end } = range
    return bytes(body, type, end - start + 1, 206, {
      ...always,
      'content-range': `bytes ${start}-${end}/${row.file_size}`,
    })
  },
})

const rewrapping = v.object({
  old_kid: UploadFields.entries.kid,
  kid: UploadFields.entries.kid,
  wrapped_dek: UploadFields.entries.wrapped_dek,
  client_hash: v.optional(v.nullable(UploadFields.entries.client_hash), null),
  binding: UploadFields.entries.binding,
})

const rewrap = route({
  method: 'PATCH',
  path: '/files/encrypted/{id}',
  summary: 'Puts the key of a file under another key of the client, or binds its record; the content stays as it is.',
  access: { scope: 'files.encrypted.create' },
  body: { read: 'json', schema: rewrapping, bytes: 64 * 1024 },
  needs: { fileStore: FileStore, clock: Clock },
  async handle({ params, input, caller }, { fileStore, clock }) {
    const id = params.id
    return data(printed(id, await fileStore.rewrap(caller, id, input), clock.now()))
  },
})

const remove = route({
  method: 'DELETE',
  path: '/files/encrypted/{id}',
  summary: 'Removes a file: its record, its bytes and what was indexed of it.',
  access: { scope: 'files.encrypted.delete' },
  needs: { fileStore: FileStore },
  async handle({ params, caller }, { fileStore }) {
    await fileStore.remove(caller, params.id)
    return data({ id: params.id, removed: true })
  },
})

/** A key reaches the files of its own organisation and user. All others are not found. */
export const fileRoutes = [upload, list, stored, get, content, rewrap, remove] as const
