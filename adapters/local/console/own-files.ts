import type { IncomingMessage } from 'node:http'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from '../../../plugins/sealed/client/client.ts'
import { SealgateError } from '../../../plugins/sealed/client/error.ts'
import type { SealedFile } from '../../../plugins/sealed/client/file-shapes.ts'
import type { IndexResult } from '../../../plugins/sealed/client/index-and-rotate.ts'
import { onDrain } from '../../production/network/on-drain.ts'
import { sentenceOf } from '../error-text.ts'
import { mimeOf } from '../mimes.ts'
import { BadRequest, TooLarge, UpstreamFailed } from '../../../core/errors.ts'
import { type PageRequest, jsonBody, sendJson } from './page-request.ts'

/** Serves the routes below `/own`. False for a path or a method that is none of them. */
export type OwnFiles = (call: PageRequest, pathname: string) => Promise<boolean>

/** Files of one request, and files that the page shows at most. */
const page = 100
const mostFiles = 500

/** What the page shows of a file; the keys that opened it are not among it. */
const shown = ({ id, name, mime, file_size, created_at, rag_status }: SealedFile) => ({
  ...{ id, name, mime, file_size, created_at, rag_status },
})

/** Bytes. The whole file stands in memory until it is sealed. */
const mostBytes = 256 * 1024 * 1024

/** The whole body in memory: plaintext is written to no disk. */
const uploadedBytes = async (request: IncomingMessage): Promise<Uint8Array> => {
  const length = Number(request.headers['content-length'] ?? Number.NaN)
  if (!Number.isSafeInteger(length)) throw new BadRequest('A file needs its length')
  if (length > mostBytes) throw new TooLarge('A file of this page has at most 256 MiB; sealgate files put takes longer ones') // prettier-ignore
  const bytes = new Uint8Array(length)
  let at = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Files that these keys do not open come without name and type. */
const list = async ({ files }: Client) => {
  const all = []
  for (let offset = 0; ;) {
    const { files: opened, locked, total } = await files.list({ limit: page, offset })
    const closed = locked.map(({ id, file_size, created_at, rag_status }) => ({
      ...{ id, name: null, mime: null, file_size, created_at, rag_status },
    }))
    const rows = [...opened.map(shown), ...closed]
    all.push(...rows)
    offset += rows.length
    if (rows.length === 0 || offset >= Math.min(total, mostFiles)) return { files: all, total }
  }
}

/** Rejects when a later part does not hold; the answer is then cut and never looks whole. */
const content = async ({ files }: Client, { response, signal }: PageRequest, id: string): Promise<void> => {
  const file = await files.download(id, { signal })
  const parts = file.content[Symbol.asyncIterator]()
  // A file that does not hold is refused before its answer begins, as far as its first part shows it.
  const first = await parts.next()
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  const all = async function* () {
    if (!first.done) yield first.value
    yield* { [Symbol.asyncIterator]: () => parts }
  }
  await pipeline(Readable.from(all()), response)
}

/** Stores a file, and tells by events how far it is: `sent`, then `stored` or `error`. */
const store = async (client: Client, call: PageRequest): Promise<void> => {
  const { request, response, signal, query } = call
  const name = query.get('name') ?? ''
  if (name === '' || name.length > 500) throw new BadRequest('A file needs a name')
  const bytes = await uploadedBytes(request)
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const tell = (event: string, data: object): boolean =>
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  try {
    const source = { name, mime: mimeOf(extname(name)), bytes }
    const onProgress = (sent: number, size: number) => void tell('sent', { sent, size })
    const options = { index: query.get('index') === 'true', signal, onProgress }
    const kept = await client.files.upload(source, options)
    if (kept.is_duplicate && options.index && kept.rag_status === 'failed')
      throw new UpstreamFailed('The file could not be indexed')
    if (!tell('stored', shown(kept))) await onDrain(response)
  } catch (error) {
    tell('error', { error: faultText(error) })
  }
  response.end()
}

const faultText = (error: unknown): string => {
  if (error instanceof SealgateError) return sentenceOf(error)
  return error instanceof UpstreamFailed ? error.message : 'The file could not be stored'
}

/** The gateway answers for several files at once; here there is one. */
const index = async ({ files }: Client, id: string): Promise<IndexResult> => {
  const [begun] = await files.index([id])
  if (!begun?.success) throw new UpstreamFailed('The file could not be indexed')
  return begun
}

/** What indexed files say; the names are opened here, and the enclave is not told them. */
const search = async (client: Client, { request, signal }: PageRequest): Promise<readonly object[]> => {
  const { query } = await jsonBody(request)
  if (typeof query !== 'string' || query === '') throw new BadRequest('A search needs words')
  const [{ results }, { files }] = await Promise.all([
    client.tools.call('searchRag', { query }, { signal }),
    list(client),
  ])
  const names = new Map(files.map(({ id, name }) => [id, name]))
  return results.map(({ fileId, page, snippet, score }) => ({
    ...{ fileId, page, snippet, score, name: names.get(fileId) ?? null },
  }))
}

interface Door {
  readonly method: string
  readonly path: RegExp
  /** `id` is that of the file in the path; empty where the path names none. */
  serve(call: PageRequest, id: string): Promise<void>
}

/** No two doors share both method and path, so their order is free. */
const doorsOf = (client: Client): readonly Door[] => {
  const files = /^\/own\/files$/
  const file = /^\/own\/files\/(file_[\w-]+)$/
  const answered = async ({ response }: PageRequest, data: Promise<unknown>) =>
    sendJson(response, 200, { data: await data })
  return [
    { method: 'GET', path: files, serve: (call) => answered(call, list(client)) },
    { method: 'POST', path: files, serve: (call) => store(client, call) },
    { method: 'GET', path: file, serve: (call, id) => content(client, call, id) },
    {
      method: 'DELETE',
      path: file,
      serve: (call, id) =>
        answered(
          call,
          client.files.remove(id).then(() => ({ id })),
        ),
    },
    {
      method: 'POST',
      path: /^\/own\/files\/(file_[\w-]+)\/index$/,
      serve: (call, id) => answered(call, index(client, id)),
    },
    { method: 'POST', path: /^\/own\/search$/, serve: (call) => answered(call, search(client, call)) },
  ]
}

/** The reader's files with their names and contents, opened in this process. */
export const ownFiles = (client: Client): OwnFiles => {
  const doors = doorsOf(client)
  return async (call, pathname) => {
    const door = doors.find(({ method, path }) => method === call.request.method && path.test(pathname))
    if (door === undefined) return false
    await door.serve(call, door.path.exec(pathname)?.[1] ?? '')
    return true
  }
}
