import './fakes/unwatched.ts'
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import blobStore from '../adapters/memory/blob-store.ts'
import { memory } from '../adapters/memory/index.ts'
import metadataStore from '../adapters/memory/metadata-store.ts'
import { type Client, connect, newKek, newRagDek, rewrapRagDek } from '../plugins/sealed/client/client.ts'
import type { MemoryStore } from '../plugins/sealed/client/memory.ts'
import { type FileRow, belonging, files } from '../plugins/sealed/files/record.ts'
import { plugin, use } from '../core/plugin.ts'
import { BlobStore } from '../core/ports/blob-store.ts'
import { Clock } from '../core/ports/platform.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import { isBoundKey } from '../plugins/sealed/wire/binding.ts'
import { sealContent, sealLabel, sealWhole, unwrapKey, wrapKey } from '../plugins/sealed/wire/file.ts'
import { fromHex, toHex } from '../plugins/sealed/wire/bytes.ts'
import { kekId } from '../plugins/sealed/wire/schedule.ts'
import { system } from '../adapters/memory/platform.ts'
import { running, unhurried } from './environments.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

/** What our client throws, as far as it is told here. */
const faulty = (fault: string, facts: object = {}) => ({ name: 'SealgateError', fault, ...facts })

/** A gateway whose stores are in the hands of the test. `shift` moves its clock, in ms. */
const stage = async (t: Test, shift = 0) => {
  const blobs: BlobStore = blobStore.create({}, {}, 'blobs')
  const rows: MetadataStore = metadataStore.create({}, {}, 'rows')
  const moved = plugin({
    port: Clock,
    name: 'moved',
    create: (): Clock => ({ ...system.clock, now: () => Date.now() + shift }),
  })
  const stores = {
    blobStore: given(BlobStore, 'kept', () => blobs),
    metadataStore: given(MetadataStore, 'kept', () => rows),
    ...(shift !== 0 && { clock: use(moved) }),
  }
  const gateway = await running(t, { ...memory(), ...stores }, unhurried)
  const kek = newKek()
  const wrappedRagDek = newRagDek(kek)
  const clientOf = (more: object = {}): Client =>
    connect({
      baseUrl: gateway.base,
      apiKey: gateway.key,
      policy: { allowInsecureDev: true },
      kek,
      wrappedRagDek,
      ...more,
    })
  const row = async (id: string): Promise<FileRow> => (await rows.get(files, id))!
  const bytesOf = async (id: string): Promise<Uint8Array> => {
    const parts: Uint8Array[] = []
    for await (const part of (await blobs.get((await row(id)).file_path, null, AbortSignal.timeout(5000)))!.bytes)
      parts.push(part)
    return new Uint8Array(Buffer.concat(parts))
  }
  const putBytes = async (id: string, bytes: Uint8Array) =>
    void (await blobs.put((await row(id)).file_path, once(bytes), AbortSignal.timeout(5000)))
  return { stage: gateway, kek, wrappedRagDek, clientOf, client: clientOf(), rows, blobs, row, bytesOf, putBytes }
}

async function* once(bytes: Uint8Array) {
  yield bytes
}

const note = (text: string, name = 'note.md') => ({ name, mime: 'text/markdown', bytes: Buffer.from(text) })
const labels = ['version', 'kid', 'wrapped_dek', 'original_name', 'mime_type', 'client_hash', 'binding'] as const
const of = (row: FileRow, names: readonly (keyof FileRow)[]): Partial<FileRow> =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? null]))

/** A file as a client makes it that binds nothing: one of the interface's letter, or of an older release. */
const literal = async (
  { stage: gateway, kek }: Awaited<ReturnType<typeof stage>>,
  text: string,
  version: 1 | 2 = 1,
) => {
  const [key, dek] = [fromHex(kek, 32)!, new Uint8Array(randomBytes(32))]
  const parts: Uint8Array[] = []
  if (version === 1) parts.push(sealWhole(dek, Buffer.from(text)))
  else for await (const part of sealContent(dek, once(Buffer.from(text)))) parts.push(part)
  const sent = await gateway.call('POST', '/files/encrypted/upload', {
    encrypted_content: Buffer.concat(parts).toString('hex'),
    encrypted_name: toHex(sealLabel(dek, 'name', 'old.md')),
    mime_type: toHex(sealLabel(dek, 'mime', 'text/markdown')),
    client_hash: randomBytes(32).toString('hex'),
    kid: toHex(kekId(key)),
    wrapped_dek: toHex(wrapKey(key, dek)),
    version,
  })
  return ((await sent.json()) as { data: { id: string } }).data.id
}

/** Every way for a client to use a file. */
const uses: Readonly<Record<string, (client: Client, id: string) => Promise<unknown>>> = {
  download: async (client, id) => (await (await client.files.download(id)).bytes()).length,
  verify: (client, id) => client.files.verify(id),
  tool: (client, id) => client.tools.call('getTextDocumentContent', { fileId: id }),
  index: (client, id) => client.files.index([id]),
}

t.test('whoever can write the stores can serve no other file', async (t) => {
  const on = await stage(t)
  const { client, rows, row, bytesOf, putBytes, kek } = on
  const [a, b] = [await client.files.upload(note('This is A')), await client.files.upload(note('This is B'))]
  const large = (text: string) => client.files.upload(note(text.repeat(200_000), 'large.md'))
  const [c, d] = [await large('Large C. '), await large('Large D. ')]
  const old = await literal(on, 'An old file')
  const oldRow = await row(old)

  /** As much text as there was, sealed under the key of the file itself. */
  const resealed = async ({ version, wrapped_dek, file_size }: FileRow): Promise<Uint8Array> => {
    const dek = unwrapKey(fromHex(kek, 32)!, fromHex(wrapped_dek, 40)!)!
    if (version === '1') return sealWhole(dek, Buffer.alloc(file_size - 40, 'x'))
    const parts: Uint8Array[] = []
    const { length } = Buffer.from('Large C. '.repeat(200_000))
    for await (const part of sealContent(dek, once(Buffer.alloc(length, 'x')))) parts.push(part)
    return new Uint8Array(Buffer.concat(parts))
  }

  type Tamper = (id: string, other: string) => Promise<void>
  const change = async (id: string, change: Partial<FileRow>) => void (await rows.update(files, id, change))
  const ways: Readonly<Record<string, Tamper>> = {
    'the whole row of another file': async (id, other) =>
      change(id, of(await row(other), [...labels, 'file_path', 'file_size', 'file_name'])),
    'key and labels of another file, and its bytes': async (id, other) => {
      await change(id, of(await row(other), [...labels, 'file_size']))
      await putBytes(id, await bytesOf(other))
    },
    'the wrapped key of another file': async (id, other) => change(id, of(await row(other), ['wrapped_dek'])),
    'the wrapped key and the content of another file': async (id, other) => {
      await change(id, of(await row(other), ['wrapped_dek', 'original_name', 'mime_type', 'file_size']))
      await putBytes(id, await bytesOf(other))
    },
    'the content of another file': async (id, other) => putBytes(id, await bytesOf(other)),
    'other content under its own key': async (id) => putBytes(id, await resealed(await row(id))),
    'another version': async (id) => change(id, { version: (await row(id)).version === '1' ? '2' : '1' }),
    'another size': async (id) => change(id, { file_size: (await row(id)).file_size - 1 }),
    'no binding': (id) => change(id, { binding: null }),
    'the binding of another file': async (id, other) => change(id, of(await row(other), ['binding'])),
    'an old file that is not bound': (id) => change(id, of(oldRow, [...labels, 'file_path', 'file_size', 'file_name'])),
  }
  const within = new Set(['the content of another file', 'other content under its own key'])
  for (const [kind, id, other] of [
    ['small', a.id, b.id],
    ['large', c.id, d.id],
  ] as const) {
    const [was, bytes] = [await row(id), await bytesOf(id)]
    for (const [way, tamper] of Object.entries(ways)) {
      await tamper(id, other)
      for (const [use, run] of Object.entries(uses)) {
        // What the client can't see in the record, it sees in the content, or the enclave does.
        if (use === 'index' && within.has(way)) continue
        await t.rejects(run(client, id), { name: 'SealgateError' }, `${kind}, ${use}: ${way}`)
      }
      const { files: listed } = await client.files.list({ limit: 100 })
      const shown = listed.some((file) => file.id === id)
      t.equal(shown, within.has(way), `${kind}, list: ${way}`)
      await rows.update(files, id, of(was, [...labels, 'file_path', 'file_size', 'file_name']))
      await putBytes(id, bytes)
    }
    t.ok(await client.files.verify(id), 'put back, it is as it was')
  }

  await putBytes(a.id, await resealed(await row(a.id)))
  await client.files.index([a.id])
  const statusOf = async () => (await row(a.id)).rag_status
  t.ok(await until(async () => (await statusOf()) === 'failed'), 'the enclave indexes no other content')
})

t.test('a line that answers with another file is not believed', async (t) => {
  const { client, clientOf } = await stage(t)
  const [a, b] = [await client.files.upload(note('This is A')), await client.files.upload(note('This is B'))]
  const instead = clientOf({
    fetch: (asked: string, init?: RequestInit) => fetch(String(asked).replace(a.id, b.id), init),
  })
  for (const [use, run] of Object.entries(uses)) await t.rejects(run(instead, a.id), faulty('damaged'), use)

  const telling = (record: object) =>
    clientOf({
      fetch: async (asked: string, init?: RequestInit) =>
        String(asked).endsWith('/upload') ? Response.json({ data: record }) : fetch(asked, init),
    })
  await t.rejects(telling({ ...b, is_duplicate: true }).files.upload(note('This is A')), faulty('damaged'))
  t.match(await telling({ ...a, is_duplicate: true }).files.upload(note('This is A')), { id: a.id, bound: true })
})

t.test('content that is cut, longer or changed throws before its end is told', async (t) => {
  const { client, clientOf } = await stage(t)
  const { id } = await client.files.upload({ name: 'large', bytes: randomBytes(1_500_000) })
  const changing = (change: (bytes: Uint8Array) => Uint8Array) =>
    clientOf({
      fetch: async (asked: string, init?: RequestInit) => {
        const answer = await fetch(asked, init)
        if (!String(asked).endsWith('/content')) return answer
        return new Response(change(new Uint8Array(await answer.arrayBuffer())) as Uint8Array<ArrayBuffer>)
      },
    })
  const ways: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
    cut: (bytes) => bytes.subarray(0, -1),
    longer: (bytes) => new Uint8Array([...bytes, 0]),
    changed: (bytes) => bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)),
  }
  for (const [way, change] of Object.entries(ways)) {
    const { content } = await changing(change).files.download(id)
    const all = async () => {
      for await (const _ of content) continue
    }
    await t.rejects(all(), faulty('damaged'), way)
  }
})

t.test('files of literal clients are served and told as unbound', async (t) => {
  const on = await stage(t)
  const { client, clientOf, row } = on
  for (const version of [1, 2] as const) {
    const id = await literal(on, 'An old file', version)
    const file = await client.files.download(id)
    t.equal(file.bound, false)
    t.equal(Buffer.from(await file.bytes()).toString(), 'An old file')
    t.match(JSON.stringify(await client.tools.call('getTextDocumentContent', { fileId: id })), /An old file/)
    t.match(await client.files.index([id]), [{ success: true }])
    const strict = clientOf({ requireBound: true })
    for (const [use, run] of Object.entries(uses)) await t.rejects(run(strict, id), faulty('unbound'), use)
    t.match(await strict.files.list(), { files: [], locked: [{ id }] })
    t.equal(await client.files.bind([id]), 1, 'a client that asks for it vouches for what it is told')
    t.equal(await client.files.bind([id]), 0, 'once')
    t.match(await strict.files.download(id), { bound: true })
    t.match(await row(id), { binding: /^01000000/ })
    await client.files.remove(id)
  }
  const { id } = await client.files.upload(note('A new one'))
  t.match(await client.files.download(id), { bound: true })
})

t.test('a file stays bound under another key', async (t) => {
  const on = await stage(t)
  const { client, clientOf, kek, wrappedRagDek, rows, row } = on
  const { id } = await client.files.upload(note('It moves'))
  const next = newKek()
  const before = await row(id)
  t.equal(await client.files.rotateKek(next), 1)
  const fresh = clientOf({ kek: next, wrappedRagDek: rewrapRagDek(wrappedRagDek, kek, next) })
  t.match(await fresh.files.download(id), { bound: true })
  t.equal(await fresh.files.verify(id), true)
  t.ok((await row(id)).binding!.startsWith('0100000002'), 'the next revision')
  await rows.update(files, id, { binding: null })
  for (const [use, run] of Object.entries(uses))
    await t.rejects(run(fresh, id), faulty('damaged'), `${use}: its key says that it is bound`)
  await rows.update(files, id, of(before, labels))
  await t.rejects(fresh.files.download(id), faulty('wrong_key'), 'the state before')

  let text: string | null = null
  const store: MemoryStore = { load: async () => text, save: async (saved) => void (text = saved) }
  const moved = await clientOf({ memory: store }).files.upload(note('Moves and remembers'))
  const old = await literal(on, 'An old file')
  const then = newKek()
  await clientOf({ memory: store }).files.rotateKek(then)
  await rows.update(files, moved.id, of(await row(old), [...labels, 'file_path', 'file_size', 'file_name']))
  t.match(await clientOf({ kek: then }).files.download(moved.id), { bound: false }, 'an unbound file is told as such')
  const remembering = clientOf({ kek: then, memory: store })
  await t.rejects(remembering.files.download(moved.id), faulty('rolled_back'), 'a memory knows better')
  await t.rejects(clientOf({ kek: then, requireBound: true }).files.download(moved.id), faulty('unbound'))

  const bad = await client.files.upload(note('Bad'))
  const good = await client.files.upload(note('Good'))
  await rows.update(files, bad.id, { binding: null })
  const later = newKek()
  const unheld = { ...faulty('damaged'), detail: bad.id }
  await t.rejects(client.files.rotateKek(later), unheld, 'what does not hold is not vouched for anew, and is named')
  t.equal((await row(good.id)).kid, toHex(kekId(fromHex(later, 32)!)), 'and keeps nobody else')
  t.equal((await row(bad.id)).kid, toHex(kekId(fromHex(kek, 32)!)))
})

t.test('a rotation takes along the files that others store meanwhile, each once', async (t) => {
  const { client, clientOf, kek } = await stage(t)
  const first = await client.files.upload(note('Before'))
  let lists = 0
  const listing: typeof fetch = async (...call) => {
    const answer = await fetch(...call)
    if (!String(call[0]).includes('/files/encrypted?') || ++lists > 2) return answer
    const { data } = (await answer.json()) as { data: { files: object[]; pagination: object } }
    await client.files.upload(note(`Meanwhile ${lists}`))
    // A file that is stored between two pages moves one file to both.
    return Response.json({ data: { ...data, files: [...data.files, ...data.files] } })
  }
  const steps: string[] = []
  const next = newKek()
  const onProgress = (done: number, total: number) => void steps.push(`${done}/${total}`)
  t.equal(await clientOf({ fetch: listing }).files.rotateKek(next, { onProgress }), 3)
  t.same(steps, ['1/1', '2/2', '3/3'])
  const { files, locked } = await clientOf({ kek: next }).files.list()
  t.same([files.length, locked.length], [3, 0])
  t.ok(files.some(({ id }) => id === first.id))
  t.equal(await clientOf({ kek }).files.rotateKek(next), 0)
})

t.test('a rotation passes over a file that is removed meanwhile', async (t) => {
  const { client, clientOf, kek } = await stage(t)
  for (const rehash of [false, true]) {
    const [gone, kept] = [await client.files.upload(note('Gone')), await client.files.upload(note('Kept'))]
    const removing: typeof fetch = async (...call) => {
      const answer = await fetch(...call)
      if (String(call[0]).includes('/files/encrypted?')) await client.files.remove(gone.id).catch(() => undefined)
      return answer
    }
    const next = newKek()
    t.equal(await clientOf({ kek, fetch: removing }).files.rotateKek(next, { rehash }), 1)
    t.match((await clientOf({ kek: next }).files.list()).files, [{ id: kept.id }])
    await clientOf({ kek: next }).files.remove(kept.id)
  }
})

t.test('what a tool made is bound by what the enclave says of it', async (t) => {
  const { client, clientOf, row, kek, bytesOf, putBytes } = await stage(t)
  const params = { fileName: 'poem', fileExtension: 'txt', fileContent: 'Roses are red', mimeType: 'text/plain' }
  const made = await client.tools.call('createFileForUser', params)
  const file = await client.files.download(made.fileId)
  t.equal(file.bound, true)
  t.equal(Buffer.from(await file.bytes()).toString(), 'Roses are red')
  const { wrapped_dek } = await row(made.fileId)
  t.ok(isBoundKey(unwrapKey(fromHex(kek, 32)!, fromHex(wrapped_dek, 40)!)!))
  const other = await client.tools.call('createFileForUser', { ...params, fileContent: 'Roses are read' })
  await putBytes(made.fileId, await bytesOf(other.fileId))
  await t.rejects(uses['download']!(client, made.fileId), faulty('damaged'))

  const lying = (change: (data: any) => object) =>
    clientOf({
      fetch: async (asked: string, init?: RequestInit) => {
        const answer = await fetch(asked, init)
        if (init?.method !== 'POST') return answer
        const body = (await answer.json()) as { data: object }
        return Response.json({ ...body, data: change(body.data) })
      },
    })
  const {
    encryptedResponse: _,
    nonce: __,
    ...open
  } = (await lying((saved) => (seen = saved))
    .tools.call('createFileForUser', params)
    .then(() => seen)) as any
  await t.rejects(lying(() => open).tools.call('createFileForUser', params), faulty('damaged'), 'nothing sealed')
  await t.rejects(lying(() => seen).tools.call('createFileForUser', params), faulty('damaged'), 'another answer')
})
let seen: object = {}

t.test('a client with a memory takes nothing older', async (t) => {
  const { clientOf, rows, row, bytesOf, putBytes, kek } = await stage(t)
  let text: string | null = null
  const store: MemoryStore = { load: async () => text, save: async (saved) => void (text = saved) }
  const [client, plain] = [clientOf({ memory: store }), clientOf()]
  const { id } = await client.files.upload(note('First'))
  t.notOk(text!.includes(id), 'the memory is sealed')

  const middle = newKek()
  const [first, firstBytes] = [await row(id), await bytesOf(id)]
  await client.files.rotateKek(middle)
  await clientOf({ kek: middle, memory: store }).files.rotateKek(kek)
  t.ok((await row(id)).binding!.startsWith('0100000003'))
  t.equal(await client.files.verify(id), true)
  const last = await row(id)
  await rows.update(files, id, of(first, labels))
  t.equal(await plain.files.verify(id), true, 'nobody else can tell')
  for (const [use, run] of Object.entries(uses)) await t.rejects(run(client, id), faulty('rolled_back'), use)
  t.match(await client.files.list(), { files: [], locked: [{ id }] })
  await rows.update(files, id, of(last, labels))
  t.equal(await client.files.verify(id), true)

  await client.files.remove(id)
  await rows.create(files, id, last)
  await putBytes(id, firstBytes)
  t.equal(await plain.files.verify(id), true)
  for (const [use, run] of Object.entries(uses)) await t.rejects(run(client, id), faulty('rolled_back'), use)
  await client.files.rotateKek(middle).catch(() => undefined)
  await plain.files.rotateKek(middle)
  const after = clientOf({ kek: middle, memory: store })
  await t.rejects(after.files.download(id), faulty('rolled_back'), 'under the next key too')

  const good = text!
  for (const wrong of ['', 'x', '{}', '[]', 'null', good.replace(/[0-9a-f]{8}"(?=[,}])/g, '00000000"')]) {
    text = wrong
    await t.rejects(client.files.list(), faulty('no_memory'), wrong.slice(0, 20))
  }
})

t.test('an id that a client chooses is new and of now', async (t) => {
  const { stage: gateway, client, clientOf, row, blobs } = await stage(t)
  const { id, file_path } = await client.files.upload(note('Chosen'))
  t.match(file_path, new RegExp(`/${id.slice(5)}\\.[0-9a-f-]{36}\\.enc$`), 'its bytes have a name of the gateway too')
  t.equal(belonging(file_path)!.id, id)
  t.ok(Math.abs(belonging(file_path)!.since - Date.now()) < 60_000)
  t.same(belonging(`encrypted/o/u/${id.slice(5)}.enc`)!.id, id)
  const index = `index/o/u/${file_path.split('/').at(-1)!.replace('.enc', '')}.01890000-0000-7000-8000-000000000000.idx`
  t.same(belonging(index), { id, since: 0x018900000000 })

  const form = (fields: readonly (readonly [string, string | Blob])[]) => {
    const body = new FormData()
    for (const [name, value] of fields) body.append(name, value)
    return fetch(`${gateway.base}/files/encrypted/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body,
    })
  }
  const kept = await row(id)
  const fields: (readonly [string, string])[] = [
    ['encrypted_name', kept.original_name],
    ['mime_type', kept.mime_type],
    ['client_hash', '00'.repeat(32)],
    ['kid', kept.kid],
    ['wrapped_dek', kept.wrapped_dek],
  ]
  const content = ['encrypted_content', new Blob(['sealed'])] as const
  const stored = async () => {
    const paths = []
    for await (const path of blobs.list('encrypted/')) paths.push(path)
    return paths.length
  }
  const before = await stored()
  const at = (ms: number) => {
    const time = (Date.now() + ms).toString(16).padStart(12, '0')
    return `file_${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${randomBytes(6).toString('hex')}`
  }
  const hour = 3_600_000
  for (const wrong of [
    id,
    'file_x',
    at(0).replace('-7000-8000', '-4000-8000'),
    at(hour + 60_000),
    at(-hour - 60_000),
    `${at(0)}0`,
  ]) {
    const answer = await form([['file_id', wrong], ...fields, content])
    t.equal(answer.status, 400, wrong)
    t.match(await answer.json(), { validator: { file_id: String } })
  }
  t.equal((await form([...fields, content, ['file_id', at(0)]])).status, 400, 'behind the content')
  t.equal((await form([['file_id', at(0)], ...fields, content, ['binding', '01']])).status, 400, 'a short binding')
  t.equal(await stored(), before, 'nothing of it is kept')
  const good = at(hour - 60_000)
  const answer = await form([['file_id', good], ...fields, content, ['binding', '01'.repeat(101)]])
  t.match(await answer.json(), { data: { id: good, binding: '01'.repeat(101) } })
  t.match(await clientOf().files.list(), { locked: [{ id: good }] }, 'which proves nothing to us')

  const patch = (body: object) => gateway.call('PATCH', `/files/encrypted/${good}`, { old_kid: kept.kid, ...body })
  const same = { kid: kept.kid, wrapped_dek: kept.wrapped_dek }
  const told = async (answer: Response) => ((await answer.json()) as any).data
  t.match(await told(await patch({ ...same, binding: '02'.repeat(101) })), {
    binding: '02'.repeat(101),
    client_hash: '00'.repeat(32),
  })
  t.match(await told(await patch(same)), { binding: '02'.repeat(101) })
  t.match(await told(await patch({ kid: 'other', wrapped_dek: kept.wrapped_dek })), { binding: null })
  t.equal((await patch({ ...same, binding: '02' })).status, 400)
})

t.test('a client whose clock is wrong goes by that of the gateway', async (t) => {
  const shift = 3 * 3_600_000
  const { clientOf } = await stage(t, shift)
  const statuses: number[] = []
  const client = clientOf({
    fetch: async (asked: string, init?: RequestInit) => {
      const answer = await fetch(asked, init)
      if (init?.method !== 'POST') return answer
      statuses.push(answer.status)
      const date = new Date(Date.now() + shift).toUTCString()
      return new Response(answer.body, { status: answer.status, headers: { date } })
    },
    policy: { allowInsecureDev: true },
  })
  t.match(await client.files.upload(note('Late')), { bound: true })
  const params = { fileName: 'poem', fileExtension: 'txt', fileContent: 'Roses are red', mimeType: 'text/plain' }
  t.match(await client.tools.call('createFileForUser', params), { name: 'poem.txt' })
  t.same(statuses, [400, 200, 400, 200], 'one more try each')
})
