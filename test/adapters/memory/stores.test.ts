import t from 'tap'
import blobs from '../../../adapters/memory/blob-store.ts'
import rows from '../../../adapters/memory/metadata-store.ts'
import { use } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { kind, MetadataStore } from '../../../core/ports/metadata-store.ts'
import { blobStore } from '../../contracts/blob-store.ts'
import { conform } from '../../contracts/contract.ts'
import { metadataStore } from '../../contracts/metadata-store.ts'
import { made } from '../../fitted.ts'

t.test('blob store', (t) => conform(t, blobStore.contract, () => made(BlobStore, use(blobs))))

t.test('metadata store', (t) => conform(t, metadataStore.contract, () => made(MetadataStore, use(rows))))

t.test('two stores share nothing', async (t) => {
  const notes = kind<{ text: string }>('notes')
  const [one, other] = [made(MetadataStore, use(rows)), made(MetadataStore, use(rows))]
  await one.create(notes, 'a', { text: 'x' })
  t.equal(await other.get(notes, 'a'), null)
})

t.test('a reader that leaves is not read on for', async (t) => {
  const store = made(BlobStore, use(blobs))
  const chunk = new Uint8Array(100_000)
  await store.put(
    'a',
    (async function* () {
      for (let i = 0; i < 10; i++) yield chunk
    })(),
  )
  const stop = new AbortController()
  const found = await store.get('a', null, stop.signal)
  await t.rejects(
    (async () => {
      for await (const _ of found!.bytes) stop.abort(new Error('left'))
    })(),
    { message: 'left' },
  )
})

t.test('knows no settings', async (t) => {
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(rows, { file: 'x' }), /file is not a known setting/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(blobs, { folder: 'x' }), /folder is not a known setting/)
})
