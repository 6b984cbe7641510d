import * as v from 'valibot'
import { enveloped } from '../../../core/http/reply.ts'
import { chapterOf } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }
import { kept } from './files.ts'

const { record, labels } = written.samples

const pagination = { limit: 20, offset: 0, total: 1, has_more: false }

/** The chapter of sealed files. Hex in its examples is cut short. */
export const files = chapterOf(written, {
  'POST /files/encrypted/upload': {
    body: { ...labels, encrypted_content: 'f02e91d8' },
    form: { ...labels, encrypted_content: '@sealed.bin' },
    enveloped: { data: record },
  },
  'GET /files/encrypted': { enveloped: { data: { files: [record], pagination } } },
  'GET /files/encrypted/{id}': {
    shape: enveloped(
      v.object({
        ...kept.entries,
        url: v.optional(v.nullable(v.string())),
        url_expires_at: v.optional(v.nullable(v.string())),
      }),
    ),
    enveloped: { data: record },
  },
  'PATCH /files/encrypted/{id}': {
    shape: enveloped(kept),
    enveloped: { data: { ...record, kid: 'kek-2', wrapped_dek: 'd03b77' } },
  },
  'DELETE /files/encrypted/{id}': { shape: enveloped(v.object({ id: v.string(), removed: v.boolean() })) },
})
