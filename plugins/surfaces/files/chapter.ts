import * as v from 'valibot'
import { enveloped } from '../../../core/http/envelope.ts'
import type { Chapter } from '../../../core/ports/chapter.ts'
import { exampleEnvelope } from '../shared/example-envelope.ts'
import { kept } from './files.ts'

const id = 'file_01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8'

const record = {
  id,
  version: '1',
  kid: 'kek-1',
  wrapped_dek: 'c9e4a1',
  file_name: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8.enc',
  file_path: 'encrypted/default/ada/01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8.enc',
  file_size: 4,
  type: 'encrypted',
  mime_type: '7c01',
  is_duplicate: false,
  created_at: '2030-01-31 12:00:00.000',
  updated_at: null,
  original_name: 'b7d4',
  client_hash: 'c1f2',
  binding: null,
  name_tag: null,
  type_hint: 'general',
  rag_status: 'none',
  rag_error: null,
}

const labels = { encrypted_name: 'b7d4', client_hash: 'c1f2', kid: 'kek-1', wrapped_dek: 'c9e4a1', mime_type: '7c01' }

/** The chapter of sealed files. Hex in its examples is cut short. */
export const files: Chapter = {
  name: 'Files',
  about:
    'Files are sealed by the client before they come here. The gateway keeps their bytes and records, and can read neither content nor names.',
  words: {
    'path.id': 'The id of a file.',
    'body.file_id': 'An id that the client chooses. The field stands before the content.',
    encrypted_name: 'The sealed name of the file, as hex.',
    mime_type: 'The sealed media type of the file, as hex.',
    incognito: 'Whether the gateway removes the file by itself, a day later unless it is configured otherwise.',
    version: 'The version of the encryption.',
    old_kid: 'The id of the key-encryption key that the file has now.',
    id: 'The id of the file.',
    file_name: 'The name under which the store keeps the bytes.',
    file_path: 'Where the store keeps the bytes.',
    file_size: 'The stored size in bytes.',
    'data.type': 'The word `encrypted`.',
    'files.type': 'The word `encrypted`.',
    is_duplicate: 'True where the same file was there already, so that this is its record.',
    created_at: 'The time of the upload, in UTC.',
    updated_at: 'The time of the last change, in UTC. It is null where nothing changed.',
    original_name: 'The sealed name of the file, as hex.',
    name_tag: 'The tag of the name that the client made.',
    type_hint: 'What kind of file it is.',
    'data.files': 'The records of the files.',
    'data.removed': 'True: the file is gone.',
    'query.search': 'A part of the key’s id, of the stored name, or of the name’s tag.',
    'query.type': 'The kind of files to list.',
    'query.url': 'Whether the answer has a link to the bytes.',
    'data.url': 'A short-lived link to the sealed bytes. It is null where the store gives none.',
    url_expires_at: 'The time at which the link ends.',
    'data.stored': 'What all users of the organisation store.',
    'data.quota': 'How much the organisation may store. A null is no limit.',
    bytes: 'Sealed bytes.',
    files: 'Files.',
  },
  operations: {
    'POST /files/encrypted/upload': {
      about: 'A form takes half the bytes. With all fields of the index the gateway indexes the file at once.',
      body: { ...labels, encrypted_content: 'f02e91d8' },
      form: { ...labels, encrypted_content: '@sealed.bin' },
      answer: { ...exampleEnvelope, data: record },
    },
    'GET /files/encrypted': {
      about: 'Files of other users do not exist for the key.',
      query: { limit: '20' },
      answer: {
        ...exampleEnvelope,
        data: { files: [record], pagination: { limit: 20, offset: 0, total: 1, has_more: false } },
      },
    },
    'GET /files/storage': {
      about: 'An upload beyond the quota is refused with `over_quota`.',
      answer: {
        ...exampleEnvelope,
        data: { stored: { bytes: 4, files: 1 }, quota: { bytes: 1_000_000_000, files: null } },
      },
    },
    'GET /files/encrypted/{id}': {
      path: { id },
      shape: enveloped(
        v.object({
          ...kept.entries,
          url: v.optional(v.nullable(v.string())),
          url_expires_at: v.optional(v.nullable(v.string())),
        }),
      ),
      answer: { ...exampleEnvelope, data: record },
    },
    'PATCH /files/encrypted/{id}': {
      path: { id },
      words: {
        'body.kid': 'The id of the key-encryption key that wraps the file’s key from now on.',
        'body.wrapped_dek': 'The key of the file, wrapped under that key, as hex.',
      },
      body: { old_kid: 'kek-1', kid: 'kek-2', wrapped_dek: 'd03b77' },
      shape: enveloped(kept),
      answer: { ...exampleEnvelope, data: { ...record, kid: 'kek-2', wrapped_dek: 'd03b77' } },
    },
    'DELETE /files/encrypted/{id}': {
      path: { id },
      shape: enveloped(v.object({ id: v.string(), removed: v.boolean() })),
      answer: { ...exampleEnvelope, data: { id, removed: true } },
    },
    'GET /files/encrypted/{id}/content': {
      path: { id },
      asks: { range: 'A range of bytes, such as `bytes=0-1023`. The answer is then a 206.' },
      tells: { etag: 'The stored name: other bytes have another one.' },
      types: { 'application/octet-stream': 'The sealed bytes.' },
    },
  },
}
