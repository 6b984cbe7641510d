import * as v from 'valibot'
import { checked, listOf } from '../../../core/validate.ts'
import { checks } from '../wire/body.ts'
import type { OpenedRequest, OuterFields, Sealed } from './open.ts'

/** One file to index, with its opened keys. */
export interface IndexTask {
  readonly id: string
  readonly dek: Uint8Array | undefined
  readonly ragDek: Uint8Array | undefined
}

/** The outer fields of an index request, flattened, and its tasks after opening. */
export interface IndexRequest {
  readonly outer: OuterFields
  readonly fields: Sealed
  /** True when the request has a list; the answer then has a list, too. */
  readonly listed: boolean
  tasks(opened: OpenedRequest): readonly IndexTask[]
}

/** Each sealed key of a file, with the field of its nonce. */
const parts = { encrypted_file_dek: 'file_nonce', encrypted_rag_dek: 'rag_dek_nonce' } as const

/** The largest number of files under one encapsulation. */
const mostFiles = 1_000
const listing = v.looseObject({ files: listOf(v.record(v.string(), v.unknown()), 1, mostFiles) })

/** One file, or several under `files` that share an encapsulation. The encapsulation is opened and entered once. */
export const indexRequest = (sealed: Sealed): IndexRequest => {
  const listed = sealed['files'] !== undefined
  const files = listed ? checked(listing, sealed).files : [sealed]
  const named = (field: string, at: number) => (listed ? `files.${at}.${field}` : field)
  const fields: Record<string, unknown> = { ...sealed }
  const outer: Record<string, OuterFields['parts'][string]> = {}
  for (const [at, file] of files.entries()) {
    for (const [field, nonce] of Object.entries(parts)) {
      outer[named(field, at)] = { nonce: named(nonce, at), check: checks.key }
      fields[named(field, at)] = file[field]
      fields[named(nonce, at)] = file[nonce]
    }
  }
  return {
    outer: {
      cipherText: { field: 'cipher_text', check: checks.lasting },
      params: null,
      parts: outer,
      kid: 'enclave_kid',
    },
    fields,
    listed,
    tasks: ({ parts }) =>
      files.map((file, at) => ({
        id: String(file['file_id']),
        dek: parts[named('encrypted_file_dek', at)],
        ragDek: parts[named('encrypted_rag_dek', at)],
      })),
  }
}
