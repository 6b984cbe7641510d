import * as v from 'valibot'
import { enveloped } from '../../../core/http/envelope.ts'
import type { Chapter } from '../../../core/ports/chapter.ts'
import { exampleEnvelope } from '../shared/example-envelope.ts'

const id = 'file_01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8'

/** The chapter of the index of sealed files. */
export const retrieval: Chapter = {
  name: 'Index',
  about: 'Indexed files are found by `searchRag`. The index is made inside the enclave and kept sealed.',
  words: {
    'body.files': 'The files, each once.',
    s3_r2_path: 'Where the store keeps the file: `file_path` of its record.',
    enclaveKid: 'The same as `enclave_kid`.',
    'data.results': 'One result for each file, in the order of the request.',
    'results.success': 'True where the file is being indexed, or its index was removed.',
    'data.enclave_response': 'What the enclave says of each file.',
    'enclave_response.code': 'The word `running`, or the code of the error.',
  },
  operations: {
    'POST /files/encrypted/index': {
      about: 'A request takes up to 1,000 files.',
      body: {
        files: [
          {
            file_id: id,
            encrypted_file_dek: 'd3a7…',
            file_nonce: '6a19…',
            encrypted_rag_dek: 'a05c…',
            rag_dek_nonce: '2f7b…',
            s3_r2_path: 'encrypted/default/ada/01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8.enc',
            cipher_text: '8d1f…',
          },
        ],
      },
      shape: enveloped(
        v.object({
          results: v.array(v.object({ file_id: v.string(), rag_status: v.string(), success: v.boolean() })),
          enclave_response: v.array(v.object({ file_id: v.string(), code: v.string() })),
        }),
      ),
      answer: {
        ...exampleEnvelope,
        data: {
          results: [{ file_id: id, rag_status: 'running', success: true }],
          enclave_response: [{ file_id: id, code: 'running' }],
        },
      },
    },
    'POST /files/encrypted/delete-index': {
      about: 'A request takes up to 100 files.',
      body: { files: [{ file_id: id }] },
      shape: enveloped(
        v.object({
          results: v.array(v.object({ file_id: v.string(), rag_status: v.string(), success: v.boolean() })),
        }),
      ),
      answer: { ...exampleEnvelope, data: { results: [{ file_id: id, rag_status: 'none', success: true }] } },
    },
  },
}
