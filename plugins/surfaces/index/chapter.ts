import * as v from 'valibot'
import { enveloped } from '../../../core/http/reply.ts'
import { chapterOf } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }

const results = v.array(v.object({ file_id: v.string(), rag_status: v.string(), success: v.boolean() }))

/** The chapter of the index of sealed files. */
export const retrieval = chapterOf(written, {
  'POST /files/encrypted/index': {
    shape: enveloped(
      v.object({ results, enclave_response: v.array(v.object({ file_id: v.string(), code: v.string() })) }),
    ),
  },
  'POST /files/encrypted/delete-index': { shape: enveloped(v.object({ results })) },
})
