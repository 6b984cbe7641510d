import type { Labels } from '../fakes/literal-client.ts'
import { until } from '../until.ts'
import type { Row } from './row.ts'

const path = '/files/encrypted'
const labels: Labels = { name: 'poem.txt', mime: 'text/plain' }
const poem = new TextEncoder().encode('The heron waits at the pond.')
const moment = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/

export const storedFiles: readonly Row[] = [
  [
    '2.5 the record of a file has all of its fields',
    async (t, { client }) => {
      const dek = new Uint8Array(32).fill(5)
      const fields = client.fileFields(dek, labels, poem)
      const { status, body } = await client.send(`${path}/upload`, { body: fields })
      t.equal(status, 200)
      const record = body.data
      t.match(record, { kid: 'kek-1', wrapped_dek: fields.wrapped_dek, type: 'encrypted', is_duplicate: false })
      t.match(record, { mime_type: fields.mime_type, original_name: fields.encrypted_name, created_at: moment })
      t.match(record.file_name, /\.enc$/)
      t.equal(record.file_size, fields.encrypted_content.length / 2)
      t.ok(record.updated_at === null || moment.test(record.updated_at))
      for (const name of ['id', 'version', 'file_path']) t.type(record[name], 'string', name)
    },
  ],
  [
    '4.10 is_duplicate tells of a file with the same client_hash',
    async (t, { client }) => {
      const client_hash = '5e'.repeat(32)
      const first = await client.upload(poem, labels, { client_hash })
      const second = await client.upload(poem, labels, { client_hash })
      t.same([first.record.is_duplicate, second.record.is_duplicate], [false, true])
      t.equal(first.record.id, second.record.id)
    },
  ],
  [
    '8 encrypted_name has at most 1024 characters',
    async (t, { client }) => {
      const { record } = await client.upload(poem, labels, { encrypted_name: 'ab'.repeat(512) })
      t.equal(record.original_name.length, 1024)
      await t.rejects(client.upload(poem, labels, { encrypted_name: 'ab'.repeat(513) }), /encrypted_name/)
    },
  ],
  [
    '9 version is an optional whole number, and a text in the record',
    async (t, { client }) => {
      t.equal((await client.upload(poem, labels, { version: 2 })).record.version, '2')
      t.equal((await client.upload(poem, labels)).record.version, '1')
      await t.rejects(client.upload(poem, labels, { version: 1.5 }), /version/)
    },
  ],
  [
    '4.10 incognito is an optional truth',
    async (t, { client }) => {
      for (const incognito of [true, false])
        t.equal((await client.upload(poem, labels, { incognito })).record.type, 'encrypted')
    },
  ],
  [
    '4.10 an upload with the keys for retrieval is indexed',
    async (t, { client }) => {
      const dek = new Uint8Array(32).fill(6)
      const { cipherText: cipher_text, secret } = await client.agree()
      const agreement = { cipherText: cipher_text, secret }
      const body = {
        ...client.fileFields(dek, labels, poem),
        ...client.part(agreement, 'encrypted_file_dek', 'file_nonce', dek),
        ...client.part(agreement, 'encrypted_rag_dek', 'rag_dek_nonce', client.ragDek),
        cipher_text,
      }
      const { status, body: kept } = await client.send(`${path}/upload`, { body })
      t.equal(status, 200)
      const found = async () => (await client.send(`${path}/${kept.data.id}`)).body.data.rag_status
      await until(async () => !/running|pending/.test(await found()), 60_000)
      t.equal(await found(), 'completed')
      const given: Readonly<Record<string, string>> = body
      const other = await client.agree()
      const wrong = { 'one byte less': (hex: string) => hex.slice(2), 'two bytes': () => 'abab', 'no hex': () => 'zz' }
      for (const field of ['cipher_text', 'file_nonce', 'rag_dek_nonce', 'encrypted_file_dek'] as const)
        for (const [way, broken] of Object.entries(wrong)) {
          if (field === 'encrypted_file_dek' && way === 'one byte less') continue
          const refused = await client.send(`${path}/upload`, {
            body: { ...given, [field]: broken(given[field] ?? '') },
          })
          t.same([refused.status, Object.keys(refused.body.validator ?? {})], [400, [field]], `${field}: ${way}`)
        }
      const unread = {
        ...client.fileFields(dek, labels, poem),
        ...client.part(other, 'encrypted_file_dek', 'file_nonce', new Uint8Array(32)),
        ...client.part(other, 'encrypted_rag_dek', 'rag_dek_nonce', client.ragDek),
        cipher_text: other.cipherText,
      }
      const { body: failed } = await client.send(`${path}/upload`, { body: unread })
      const recordOf = async () => (await client.send(`${path}/${failed.data.id}`)).body.data
      await until(async () => !/running|pending/.test((await recordOf()).rag_status), 60_000)
      t.match(await recordOf(), { rag_status: 'failed', rag_error: 'unreadable_file' }, 'and the record tells why not')
    },
  ],
  [
    '4.11 the list has the files of the user, newest first, page by page',
    async (t, { scoped }) => {
      const client = await scoped('files.encrypted.create', 'files.encrypted.read')
      const ids: string[] = []
      for (let at = 0; at < 3; at++) ids.unshift((await client.upload(poem, labels)).record.id)
      const { body: whole } = await client.send(path)
      t.same(whole.data.files.map(({ id }: { id: string }) => id), ids) // prettier-ignore
      const { body: page } = await client.send(`${path}?limit=1&offset=1`)
      t.same(page.data.files.map(({ id }: { id: string }) => id), [ids[1]]) // prettier-ignore
      t.match(page.data.pagination, { limit: 1, offset: 1, total: 3, has_more: true })
    },
  ],
  [
    '4.11 offset is a whole number from zero, limit a small one',
    async (t, { client }) => {
      for (const query of ['offset=-1', 'offset=x', 'limit=0', 'limit=-1', 'limit=1e9'])
        t.equal((await client.send(`${path}?${query}`)).status, 400, query)
    },
  ],
  [
    '4.11 type filters by image, document, video, audio, archive and general',
    async (t, { scoped }) => {
      const client = await scoped('files.encrypted.create', 'files.encrypted.read')
      const types = ['image', 'document', 'video', 'audio', 'archive', 'general']
      for (const type_hint of types) await client.upload(poem, labels, { type_hint })
      for (const type of types) {
        const { body } = await client.send(`${path}?type=${type}`)
        t.same(body.data.files.map(({ type_hint }: { type_hint: string }) => type_hint), [type]) // prettier-ignore
      }
      t.equal((await client.send(`${path}?type=poem`)).status, 400)
    },
  ],
  [
    '4.11 a search term finds the tag of a name',
    async (t, { scoped }) => {
      const client = await scoped('files.encrypted.create', 'files.encrypted.read')
      const { record } = await client.upload(poem, labels, { name_tag: '7e'.repeat(8) })
      await client.upload(poem, labels, { name_tag: '8e'.repeat(8) })
      const { body } = await client.send(`${path}?search=${'7e'.repeat(8)}`)
      t.same(body.data.files.map(({ id }: { id: string }) => id), [record.id]) // prettier-ignore
    },
  ],
  [
    '4.11 a span of dates keeps the files that were made within it',
    async (t, { scoped }) => {
      const client = await scoped('files.encrypted.create', 'files.encrypted.read')
      const { record } = await client.upload(poem, labels)
      const day = record.created_at.slice(0, 10)
      const count = async (query: string) => (await client.send(`${path}?${query}`)).body.data.files.length
      t.equal(await count(`from=${day}&to=${day}`), 1)
      t.equal(await count('to=2001-01-01'), 0)
      t.equal(await count('from=2101-01-01'), 0)
      t.equal((await client.send(`${path}?from=yesterday`)).status, 400)
    },
  ],
  [
    '4.11 files of another user are not in the list, and not found',
    async (t, { client, scoped }) => {
      const { record } = await client.upload(poem, labels)
      const other = await scoped('files.encrypted.create', 'files.encrypted.read')
      t.same((await other.send(path)).body.data.files, [])
      t.equal((await other.send(`${path}/${record.id}`)).status, 404)
    },
  ],
  [
    '5.3 files want a key, and the scope of what is done',
    async (t, { client, scoped }) => {
      const fields = client.fileFields(new Uint8Array(32), labels, poem)
      const nobody = { authorization: '' }
      t.equal((await client.send(`${path}/upload`, { body: fields, headers: nobody })).status, 401)
      t.equal((await client.send(path, { headers: nobody })).status, 401)
      const reader = await scoped('files.encrypted.read')
      t.equal((await reader.send(`${path}/upload`, { body: fields })).status, 403)
      const writer = await scoped('files.encrypted.create')
      t.equal((await writer.send(path)).status, 403)
    },
  ],
  [
    '4.12 each field of an index item is required',
    async (t, { client }) => {
      const kept = await client.upload(poem, labels)
      const item = client.indexItem(await client.agree(), kept)
      for (const name of Object.keys(item)) {
        const { status, body } = await client.send(`${path}/index`, {
          body: { files: [{ ...item, [name]: undefined }] },
        })
        t.equal(status, 400)
        t.match(Object.keys(body.validator)[0], new RegExp(name))
      }
    },
  ],
  [
    '7 a refused upload lists all fields that are wrong',
    async (t, { client }) => {
      const { body } = await client.send(`${path}/upload`, { body: { version: 9 } })
      const fields = [
        'client_hash',
        'encrypted_content',
        'encrypted_name',
        'kid',
        'mime_type',
        'version',
        'wrapped_dek',
      ]
      t.same(Object.keys(body.validator).sort(), fields)
    },
  ],
  [
    '4.12 an item that names a key that is over fails, though it shares its cipher_text',
    async (t, { client }) => {
      const kept = [await client.upload(poem, labels), await client.upload(poem, labels)]
      const { body: keys } = await client.send('/rvenc/keys')
      const known = keys.keys.find(({ kem }: { kem: string }) => kem === 'ml-kem-768').enclaveKid
      const codes = async (...kids: readonly (string | null | undefined)[]) => {
        const agreement = await client.agree()
        const files = kept.map((file, at) => ({ ...client.indexItem(agreement, file), enclave_kid: kids[at] }))
        const { body } = await client.send(`${path}/index`, { body: { files } })
        return body.data.enclave_response.map(({ code }: { code: string }) => code)
      }
      const over = '00'.repeat(8)
      t.same(await codes(known, over), ['running', 'unknown_key'])
      t.same(await codes(over, known), ['unknown_key', 'running'], 'whatever their order')
      t.same(await codes(known.toUpperCase(), known), ['running', 'running'])
      for (const none of [null, undefined]) {
        t.same(await codes(none, known), ['running', 'running'], 'an item that names none is with the other')
        t.same(await codes(none, over), ['unknown_key', 'unknown_key'])
        t.same(await codes(none, none), ['running', 'running'])
      }
    },
  ],
  [
    '4.12 results tell of each file, and enclave_response is a list',
    async (t, { client }) => {
      const kept = await client.upload(poem, labels)
      const files = [client.indexItem(await client.agree(), kept)]
      const { status, body } = await client.send(`${path}/index`, { body: { files } })
      t.ok([200, 201, 202].includes(status))
      t.same(body.data.results, [{ file_id: kept.record.id, rag_status: 'running', success: true }])
      t.ok(Array.isArray(body.data.enclave_response))
    },
  ],
]
