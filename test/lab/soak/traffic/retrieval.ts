import { setTimeout as sleep } from 'node:timers/promises'
import { type Target, type Traffic, one } from '../traffic.ts'

/** Until the record says that it was indexed. */
const indexed = async ({ client }: Target, id: string, signal: AbortSignal): Promise<boolean> => {
  for (;;) {
    const { rag_status } = await client.files.record(id, signal)
    if (rag_status === 'completed' || rag_status === 'failed') return rag_status === 'completed'
    await sleep(50, undefined, { signal })
  }
}

export const traffic: Traffic = {
  name: 'retrieval',
  weight: 1,
  ms: 800,
  stores: true,
  models: {
    meaning: { type: 'EMBEDDING', standard: false, confidential: true, upstreams: [{ provider: 'soak' }] },
  },
  async call(target, signal) {
    const { files, tools } = target.client
    const word = `quay${Math.random().toString(36).slice(2)}`
    const bytes = Buffer.from(`The ferry leaves from ${word} at noon. `.repeat(1 + Math.floor(Math.random() * 400)))
    const atOnce = one([true, false])
    const { id } = await files.upload({ name: 'note.txt', mime: 'text/plain', bytes }, { signal, index: atOnce })
    if (!atOnce && !(await files.index([id], signal))[0]!.success) return 'not begun'
    if (!(await indexed(target, id, signal))) return `not indexed${atOnce ? ' with its upload' : ''}`
    const which = one([{}, { fileIds: [id] }])
    const found = async () => (await tools.call('searchRag', { query: word, ...which }, { signal })).results
    if (!(await found()).some(({ fileId }) => fileId === id)) return 'not found'
    if (one([true, false])) {
      await files.forgetIndex([id])
      if ((await found()).some(({ fileId }) => fileId === id)) return 'found although it was forgotten'
    }
    await files.remove(id)
    return null
  },
}
