import './fakes/unwatched.ts'
import { createHash, randomBytes } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { type Client, connect, newKek, newRagDek, rewrapRagDek } from '../plugins/sealed/client/client.ts'
import { type Running, environments, running, unhurried } from './environments.ts'
import { until } from './until.ts'

const kek = newKek()
const wrappedRagDek = newRagDek(kek)
const clientOf = ({ base, key }: Running, more = {}): Client =>
  connect({ baseUrl: base, apiKey: key, policy: { allowInsecureDev: true }, kek, wrappedRagDek, ...more })

/** What our client throws, as far as it is told here. */
const faulty = (facts: object) => ({ name: 'SealgateError', ...facts })

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Bits a byte; of noise nearly eight, of text four or five, of vectors six or seven. */
const entropy = (bytes: Uint8Array): number => {
  const counts = new Uint32Array(256)
  for (const byte of bytes) counts[byte]!++
  return counts.reduce(
    (sum, count) => (count === 0 ? sum : sum - (count / bytes.length) * Math.log2(count / bytes.length)),
    0,
  )
}

for (const [name, adapters] of Object.entries(environments)) {
  t.test(`sealed files in ${name}`, async (outer) => {
    const t = outer
    const gateway = await running(t, await adapters(t), unhurried)
    const client = clientOf(gateway)

    await t.test('come back as they were, whatever their size', async (t) => {
      for (const size of [1, 1000, 65_536, 1_048_576, 1_048_577, 3_000_000]) {
        const bytes = randomBytes(size)
        const seen: number[] = []
        const file = { name: `größe ${size}.bin`, mime: 'application/x-thing', bytes }
        const kept = await client.files.upload(file, { onProgress: (sent) => void seen.push(sent) })
        t.match(kept, { name: file.name, mime: file.mime, is_duplicate: false, version: size > 1_048_576 ? '2' : '1' })
        t.equal(seen.at(-1), size, 'progress to the end')
        const back = await client.files.download(kept.id)
        t.equal(digest(await back.bytes()), digest(bytes), `${size} bytes`)
        t.equal(await client.files.verify(kept.id), true)
        t.match(await client.files.upload(file), { is_duplicate: true, id: kept.id }, 'a second time is the first')
      }
      const { files, total } = await client.files.list({ limit: 2 })
      t.equal(total, 6)
      t.equal(files[0]!.name, 'größe 3000000.bin', 'names can be read by the client alone')
      t.same(
        (await client.files.list({ search: 'größe 1000.bin' })).files.map((file) => file.name),
        ['größe 1000.bin'],
      )
      const blob = new File(['hello'], 'hello.txt', { type: 'text/plain' })
      const { id } = await client.files.upload(blob, { type: 'document', incognito: true })
      t.equal(new TextDecoder().decode(await (await client.files.download(id)).bytes()), 'hello')
      await client.files.remove(id)
      await t.rejects(client.files.download(id), faulty({ fault: 'refused', status: 404 }))
    })

    await t.test('have names of 448 bytes at most, and a longer one is refused before anything goes out', async (t) => {
      const named = (name: string) => client.files.upload({ name, bytes: randomBytes(9) })
      const longest = '世'.repeat(149) + 'x'
      const { id, name } = await named(longest)
      t.equal(name, longest)
      await client.files.remove(id)
      await t.rejects(named(`${longest}x`), faulty({ fault: 'long_name', status: null }))
    })

    await t.test('open for nobody else, and not when they were changed', async (t) => {
      const { id } = await client.files.upload({ name: 'a', bytes: randomBytes(2_000_000) })
      const stranger = clientOf(gateway, { kek: newKek() })
      await t.rejects(stranger.files.download(id), faulty({ fault: 'wrong_key' }))
      await t.rejects(clientOf(gateway, { kek: undefined }).files.download(id), faulty({ fault: 'no_kek' }))
      const damaging = clientOf(gateway, {
        fetch: async (...asked: Parameters<typeof fetch>) => {
          const answer = await fetch(...asked)
          if (!String(asked[0]).endsWith('/content')) return answer
          const bytes = new Uint8Array(await answer.arrayBuffer())
          bytes[1_000_000]! ^= 1
          return new Response(bytes)
        },
      })
      await t.rejects((await damaging.files.download(id)).bytes(), faulty({ fault: 'damaged' }))
      const cutting = clientOf(gateway, {
        fetch: async (...asked: Parameters<typeof fetch>) => {
          const answer = await fetch(...asked)
          if (!String(asked[0]).endsWith('/content')) return answer
          return new Response((await answer.arrayBuffer()).slice(0, 24 + 65_552 * 2))
        },
      })
      await t.rejects(
        (await cutting.files.download(id)).bytes(),
        faulty({ fault: 'damaged' }),
        'cut between two chunks',
      )
    })

    await t.test('are searched by a tag of their name, whatever the name begins with', async (t) => {
      const asked: string[] = []
      const heard = clientOf(gateway, {
        fetch: async (...call: Parameters<typeof fetch>) => {
          asked.push(String(call[0]))
          return fetch(...call)
        },
      })
      for (const name of ['file_merger.pdf', `file_${'0'.repeat(8)}-merger`, `${'0'.repeat(32)}-merger`]) {
        const { id } = await heard.files.upload({ name, bytes: randomBytes(10) })
        for (const search of [name, id]) {
          const { files } = await heard.files.list({ search })
          t.same(
            files.map((file) => file.name),
            [name],
          )
        }
        await heard.files.remove(id)
      }
      t.notMatch(asked.join('\n'), /merger/, 'no name is in an address')
    })

    await t.test('that change while they are sent are refused, and nothing of them is stored', async (t) => {
      const { total } = await client.files.list()
      for (const size of [20, 1_500_000]) {
        const readings = [randomBytes(size), randomBytes(size)]
        const open = async function* () {
          yield readings.shift()!
        }
        await t.rejects(
          client.files.upload({ name: 'growing', mime: 'text/plain', size, open }),
          faulty({ fault: 'changed' }),
        )
      }
      t.equal((await client.files.list()).total, total)
    })

    await t.test('go under another key without being sent again', async (t) => {
      const as = (await gateway.gateway.keys.create({ organization: 'turning' })).credential
      const old = clientOf(gateway, { apiKey: as })
      const bytes = [randomBytes(10), randomBytes(1_500_000)]
      for (const [at, content] of bytes.entries()) await old.files.upload({ name: `file ${at}`, bytes: content })
      const next = newKek()
      const other = await clientOf(gateway, { apiKey: as, kek: newKek() }).files.upload({
        name: 'of another',
        bytes: bytes[0]!,
      })
      t.match(await old.files.list(), {
        files: [{ name: 'file 1' }, { name: 'file 0' }],
        locked: [{ id: other.id }],
        total: 3,
      })
      await t.rejects(clientOf(gateway, { apiKey: as, kek: undefined }).files.list(), faulty({ fault: 'no_kek' }))
      t.equal(await old.files.rotateKek(next, { rehash: true }), 2, 'what is under another key stays there')
      const fresh = clientOf(gateway, { apiKey: as, kek: next, wrappedRagDek: rewrapRagDek(wrappedRagDek, kek, next) })
      const { files, locked } = await fresh.files.list()
      t.same(
        files.map((file) => file.name),
        ['file 1', 'file 0'],
      )
      t.match(locked, [{ id: other.id }])
      for (const file of files) t.equal(await fresh.files.verify(file.id), true)
      t.match(await fresh.files.upload({ name: 'again', bytes: bytes[0]! }), { is_duplicate: true })
      await t.rejects(old.files.download(files[0]!.id), faulty({ fault: 'wrong_key' }))
      t.equal(await fresh.files.rotateKek(next), 0, 'nothing is left to do')
    })

    await t.test('are indexed and found inside the enclave alone', async (t) => {
      const text =
        'The lighthouse keeper of Skerry Point repaired the brass lamp. Nobody else knew about the violet code book.'
      const early = await client.files.upload(
        { name: 'keeper.txt', mime: 'text/plain', bytes: Buffer.from(text) },
        { index: true },
      )
      t.match(early.rag_status, /pending|running|completed/)
      const late = await client.files.upload({
        name: 'other.txt',
        mime: 'text/plain',
        bytes: Buffer.from('Recipes for plum cake with violet icing.'),
      })
      t.match(await client.files.index([late.id, 'file_none']).catch((error) => error), {
        fault: 'refused',
        status: 404,
      })
      t.match(await client.files.index([late.id]), [{ file_id: late.id, rag_status: 'running', success: true }])
      const statusOf = async (id: string) => (await client.files.list({ search: id })).files[0]!.rag_status
      const done = async (id: string) => (await statusOf(id)) === 'completed'
      t.ok(await until(async () => (await done(early.id)) && (await done(late.id)), 20_000))
      if (!(await client.tools.list()).some(({ name }) => name === 'searchRag')) return
      const found = await client.tools.call('searchRag', { query: 'violet code book' })
      t.match(found.results[0], { fileId: early.id, snippet: /violet code book/ })
      const only = await client.tools.call('searchRag', { query: 'violet', fileIds: [late.id] })
      t.same(
        only.results.map(({ fileId }) => fileId),
        [late.id],
      )
      await client.files.forgetIndex([early.id])
      t.equal(await statusOf(early.id), 'none')
      const after = await client.tools.call('searchRag', { query: 'violet code book' })
      t.notOk(
        after.results.some(({ fileId }) => fileId === early.id),
        'what was forgotten is not found',
      )
    })

    await t.test(
      'leave nothing that can be read in the stores',
      { skip: name === 'memory' && 'has none' },
      async (t) => {
        const folder = outer.testdirName
        const paths = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((name) => name.isFile())
        const indexes = paths.filter((path) => path.name.endsWith('.idx'))
        t.ok(indexes.length > 0, 'an index is among them')
        for (const { parentPath, name } of paths) {
          const bytes = await readFile(join(parentPath, name))
          for (const word of ['lighthouse', 'violet', 'keeper.txt', 'plum'])
            for (const encoding of ['utf8', 'base64', 'hex'] as const)
              t.notOk(bytes.includes(Buffer.from(word).toString(encoding).replace(/=+$/, '')), `${word} in ${name}`)
          if (name.endsWith('.idx'))
            t.ok(entropy(bytes) > 7.5, `${name} looks like noise: ${entropy(bytes).toFixed(2)} bits a byte`)
        }
      },
    )

    await t.test('are read and made by tools', async (t) => {
      t.match(await client.tools.call('getTime', { timezone: 'Asia/Tokyo' }), { offset: '+09:00' })
      await t.rejects(client.tools.call('getTime', { timezone: 'Mars' }), {
        fault: 'failed',
        code: 'invalid_parameters',
        field: 'timezone',
      })
      await t.rejects(client.tools.call('noTool', {}), faulty({ fault: 'refused', status: 404 }))
      const there = new Set((await client.tools.list()).map((tool) => tool.name))
      if (there.has('createFileForUser')) {
        const made = await client.tools.call('createFileForUser', {
          fileName: 'poem',
          fileExtension: 'txt',
          fileContent: 'Roses are red',
          mimeType: 'text/plain',
        })
        t.match(made, { name: 'poem.txt', mime: 'text/plain' })
        t.equal(Buffer.from(await (await client.files.download(made.fileId)).bytes()).toString(), 'Roses are red')
        t.ok(
          (await client.files.list()).files.some(({ id }) => id === made.fileId),
          'listed',
        )
      }
      if (there.has('getTextDocumentContent')) {
        const { id } = await client.files.upload({
          name: 'note.md',
          mime: 'text/markdown',
          bytes: Buffer.from('# Title\n\nBody text'),
        })
        t.match(JSON.stringify(await client.tools.call('getTextDocumentContent', { fileId: id })), /Body text/)
        await t.rejects(client.tools.call('getTextDocumentContent', { fileId: `file_${'0'.repeat(36)}` }), {
          name: 'SealgateError',
          status: 404,
        })
      }
    })
  })
}
