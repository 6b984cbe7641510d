import * as v from 'valibot'
import { listOf } from '../../../core/validate.ts'
import { BadRequest, NotFound } from '../../../core/errors.ts'
import { type IndexItem, Indexing } from '../../sealed/files/indexing.ts'
import { data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { grantOf } from '../shared/grant.ts'
import { hex } from '../../shared/sealed-hex.ts'

const limiting = lazy(() => import('p-limit'))

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(100))

const item = v.object({
  file_id: id,
  encrypted_file_dek: hex.key,
  encrypted_rag_dek: hex.key,
  file_nonce: hex.nonce,
  rag_dek_nonce: hex.nonce,
  s3_r2_path: v.pipe(v.string(), v.maxLength(1024)),
  cipher_text: hex.lasting,
  enclave_kid: hex.enclaveKid,
  /** The same. */
  enclaveKid: hex.enclaveKid,
})

/** Files of one request to index. */
const mostFiles = 1_000

/** Files of one request, or groups of them that share an encapsulation, that begin at once. */
const fanOut = 4

/**
 * Items that share an encapsulation open together. Those that name another enclave key stand apart, and those that name none
 * are with the first that does.
 */
const groupsOf = (items: readonly IndexItem[]): readonly (readonly IndexItem[])[] => {
  const first = new Map<string, string>()
  for (const { cipher_text, enclave_kid } of items)
    if (enclave_kid != null && !first.has(cipher_text.toLowerCase())) first.set(cipher_text.toLowerCase(), enclave_kid)
  const groups = new Map<string, IndexItem[]>()
  for (const item of items) {
    const name = item.cipher_text.toLowerCase()
    const key = `${name} ${item.enclave_kid ?? first.get(name) ?? ''}`.toLowerCase()
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return [...groups.values()]
}

const index = route({
  method: 'POST',
  path: '/files/encrypted/index',
  summary: 'Indexes sealed files for retrieval, inside the enclave. The record of each tells when it is done.',
  access: { scope: 'files.encrypted.create' },
  body: {
    read: 'json',
    schema: v.object({ files: listOf(item, 1, mostFiles) }),
    bytes: 4 * 1024 * 1024,
  },
  needs: { indexing: Indexing },
  async handle({ id, input, caller }, { indexing }) {
    const ids = input.files.map(({ file_id }) => file_id)
    if (new Set(ids).size < ids.length)
      throw new BadRequest('Validation failed', { validator: { files: 'Expected each file once' } })
    const { default: pLimit } = await limiting()
    const turn = pLimit(fanOut)
    const items = input.files.map(({ enclaveKid, ...file }) => ({
      ...file,
      enclave_kid: file.enclave_kid ?? enclaveKid,
    }))
    const begin = (group: readonly IndexItem[]) => turn(() => indexing.begin(grantOf(id, caller), group))
    const all = (await Promise.all(groupsOf(items).map(begin))).flat()
    const begun = ids.flatMap((id) => all.find(({ file_id }) => file_id === id) ?? [])
    return data({
      results: begun.map(({ file_id, rag_status }) => ({ file_id, rag_status, success: rag_status === 'running' })),
      enclave_response: begun.map(({ file_id, code }) => ({ file_id, code })),
    })
  },
})

const forget = route({
  method: 'POST',
  path: '/files/encrypted/delete-index',
  summary: 'Removes what was indexed of files; the files stay.',
  access: { scope: 'files.encrypted.delete' },
  body: {
    read: 'json',
    schema: v.object({ files: listOf(v.object({ file_id: id }), 1, 100) }),
    bytes: 64 * 1024,
  },
  needs: { indexing: Indexing },
  async handle({ input, caller }, { indexing }) {
    const { default: pLimit } = await limiting()
    const turn = pLimit(fanOut)
    const forgotten = (file_id: string) =>
      indexing.forget(caller, file_id).then(
        () => ({ file_id, rag_status: 'none', success: true }),
        (error: unknown) => {
          if (error instanceof NotFound) return { file_id, rag_status: 'failed', success: false }
          throw error
        },
      )
    return data({ results: await Promise.all(input.files.map(({ file_id }) => turn(() => forgotten(file_id)))) })
  },
})

/**
 * A request to index answers once its files are begun or refused; their records tell when they are indexed.
 */
export const retrievalRoutes = [index, forget] as const
