import { setTimeout as sleep } from 'node:timers/promises'
import { connect, newKek, newRagDek } from '../../plugins/sealed/client/client.ts'
import { type Scene, mebibyte } from './scene.ts'

/** Somebody indexes one file and searches it. */
const indexing = (what: string, text: () => string): Scene => ({
  name: `an index of ${what}, and a search of it`,
  // A gateway of its own: what the loop of the enclave throws away is in memory until the heap is collected.
  only: 'long',
  // The index itself is held in memory, and so is what it is made of meanwhile.
  memory: 192 * mebibyte,
  async play({ base, key }) {
    const kek = newKek()
    const own = { kek, wrappedRagDek: newRagDek(kek), policy: { allowInsecureDev: true } }
    const { files, tools } = connect({ baseUrl: base, apiKey: key, ...own })
    const bytes = Buffer.from(text())
    const { id } = await files.upload({ name: 'large.txt', mime: 'text/plain', bytes })
    await files.index([id])
    let status = 'running'
    while (status === 'running') {
      await sleep(20)
      status = String((await files.list({ search: id })).files[0]?.rag_status)
    }
    const found = (await tools.call('searchRag', { query: 'What did the keeper mend?' })) as { results: unknown[] }
    const lost = status === 'completed' && Array.isArray(found.results) ? 0 : 1
    await files.remove(id)
    return { sent: bytes.length, figures: [{ name: 'searches without an index', value: lost, most: 0 }] }
  },
})

const characters = 2_000_000

/** The same Chinese characters in an order that hardly repeats a pair. */
const chinese = (): string => {
  const all = Array.from({ length: characters }, (_, at) => 0x4e00 + ((at * 7919 + (at >> 8) * 104_729) % 20_000))
  let text = ''
  for (let at = 0; at < all.length; at += 10_000) text += String.fromCodePoint(...all.slice(at, at + 10_000))
  return text
}

/** Texts of which the parts are many, or of which the whole is one part. */
export const indexes: readonly Scene[] = [
  indexing('2 MB of prose in one line', () =>
    'The keeper of the lighthouse mended a lamp before the ferry left again. '.repeat(characters / 72),
  ),
  indexing('a million paragraphs of a letter', () => 'a\f'.repeat(characters / 2)),
  indexing('two million Chinese characters', chinese),
]
