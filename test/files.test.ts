import { Sweep } from '../plugins/sealed/files/sweep.ts'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import blobStore from '../adapters/memory/blob-store.ts'
import { use } from '../core/plugin.ts'
import { BlobStore } from '../core/ports/blob-store.ts'
import { kind } from '../core/ports/metadata-store.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import metadataStore from '../adapters/memory/metadata-store.ts'
import { type Running, environments, running, unhurried } from './environments.ts'
import { formOf, uploadOf } from './fakes/uploads.ts'
import { given, made } from './fitted.ts'

interface Record_ {
  readonly id: string
  readonly file_path: string
  readonly is_duplicate: boolean
  readonly [field: string]: unknown
}

const up = async (gateway: Running, content: Uint8Array, more = {}, headers = {}): Promise<Record_> => {
  const answer = await gateway.call('POST', '/files/encrypted/upload', uploadOf(content, more), headers)
  const body = (await answer.json()) as { data: Record_ }
  if (answer.status !== 200) throw new Error(JSON.stringify(body))
  return body.data
}
const listed = async (gateway: Running, query = '', headers = {}) => {
  const answer = await gateway.call('GET', `/files/encrypted${query}`, undefined, headers)
  return { status: answer.status, ...((await answer.json()) as { data: { files: Record_[]; pagination: object } }) }
}
const contentOf = async (gateway: Running, id: string, headers = {}, method = 'GET') => {
  const answer = await gateway.call(method, `/files/encrypted/${id}/content`, undefined, headers)
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
}
const keyFor = async (gateway: Running, key: object) => ({
  authorization: `Bearer ${(await gateway.gateway.keys.create(key)).credential}`,
})
const json = async (answer: Response) => (await answer.json()) as { error: string; validator: object | null; data: any }

for (const [name, adapters] of Object.entries(environments)) {
  t.test(`files in ${name}`, async (t) => {
    const gateway = await running(t, await adapters(t), unhurried)

    await t.test('are stored, listed, fetched, re-wrapped and removed', async (t) => {
      const content = randomBytes(300_000)
      const sent = uploadOf(content, { type_hint: 'document' })
      const answer = await gateway.call('POST', '/files/encrypted/upload', sent)
      const { data: record } = await json(answer)
      t.match(record, {
        id: /^file_[0-9a-f-]{36}$/,
        version: '2',
        kid: sent.kid,
        wrapped_dek: sent.wrapped_dek,
        file_name: /^[0-9a-f-]{36}\.enc$/,
        file_path: /^encrypted\/default\/default\/[0-9a-f-]{36}\.enc$/,
        file_size: content.length,
        type: 'encrypted',
        mime_type: sent.mime_type,
        is_duplicate: false,
        created_at: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/,
        updated_at: null,
        original_name: sent.encrypted_name,
        rag_status: 'none',
      })
      const { data } = await listed(gateway)
      t.same(data.files, [record], 'listed as it was told')
      t.same(data.pagination, { limit: 20, offset: 0, total: 1, has_more: false })
      t.same((await json(await gateway.call('GET', `/files/encrypted/${record.id}?url=true`))).data, {
        ...record,
        url: null,
        url_expires_at: null,
      })

      const whole = await contentOf(gateway, record.id)
      t.ok(whole.bytes.equals(content), 'every byte')
      t.equal(whole.answer.headers.get('content-length'), String(content.length))
      for (const [range, from, to] of [
        ['bytes=0-9', 0, 10],
        ['bytes=100-', 100, content.length],
        ['bytes=-5', content.length - 5, content.length],
        ['bytes=299990-999999', 299_990, content.length],
      ] as const) {
        const part = await contentOf(gateway, record.id, { range })
        t.equal(part.answer.status, 206, range)
        t.ok(part.bytes.equals(content.subarray(from, to)), `${range} is what was asked for`)
        t.equal(part.answer.headers.get('content-range'), `bytes ${from}-${to - 1}/${content.length}`)
      }
      for (const range of ['bytes=0-9', 'bytes=300000-']) {
        const { answer } = await contentOf(gateway, record.id, { range }, 'HEAD')
        const told = (name: string) => answer.headers.get(name)
        t.same([answer.status, told('content-length'), told('content-range')], [200, `${content.length}`, null], range)
      }
      for (const range of ['bytes=300000-', 'bytes=5-2', 'bytes=-0']) {
        t.equal((await contentOf(gateway, record.id, { range })).answer.status, 400, range)
      }
      t.equal(
        (await contentOf(gateway, record.id, { range: 'bytes=0-1,5-6' })).answer.status,
        200,
        'several: the whole',
      )
      for (const [validator, status] of [
        [whole.answer.headers.get('etag')!, 206],
        ['"other"', 200],
        ['Mon, 30 Nov 2026 00:00:00 GMT', 200],
      ] as const) {
        const part = await contentOf(gateway, record.id, { range: 'bytes=0-9', 'if-range': validator })
        t.same([part.answer.status, part.bytes.length], [status, status === 206 ? 10 : content.length], validator)
      }

      const change = {
        old_kid: sent.kid,
        kid: 'b'.repeat(32),
        wrapped_dek: 'c'.repeat(80),
        client_hash: 'd'.repeat(64),
      }
      const patched = await json(await gateway.call('PATCH', `/files/encrypted/${record.id}`, change))
      t.match(patched.data, { kid: change.kid, wrapped_dek: change.wrapped_dek, client_hash: change.client_hash })
      t.type(patched.data.updated_at, 'string')
      t.equal((await gateway.call('PATCH', `/files/encrypted/${record.id}`, change)).status, 200, 'twice is once')
      const late = { ...change, kid: 'e'.repeat(32) }
      t.match(await json(await gateway.call('PATCH', `/files/encrypted/${record.id}`, late)), {
        validator: { old_kid: /./ },
      })
      t.equal((await up(gateway, content)).is_duplicate, false, 'the old hash is nobody’s any more')
      t.equal(
        (await up(gateway, content, { client_hash: change.client_hash })).is_duplicate,
        true,
        'the new one is its',
      )

      t.match((await json(await gateway.call('DELETE', `/files/encrypted/${record.id}`))).data, { removed: true })
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/content'],
        ['DELETE', ''],
      ] as const) {
        t.equal((await gateway.call(method, `/files/encrypted/${record.id}${path}`)).status, 404, `${method} ${path}`)
      }
      t.equal((await up(gateway, content, { client_hash: change.client_hash })).is_duplicate, false, 'its hash is free')
    })

    await t.test('come as a form too', async (t) => {
      const content = Buffer.concat([randomBytes(200_000), Buffer.from('\r\n--almost\r\n'), randomBytes(10)])
      const form = formOf(content, { incognito: false, name_tag: 'abcd' })
      const answer = await fetch(`${gateway.base}/files/encrypted/upload`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: form,
      })
      const { data } = await json(answer)
      t.match(data, { version: '2', file_size: content.length, name_tag: 'abcd' })
      t.ok((await contentOf(gateway, data.id)).bytes.equals(content), 'every byte')
    })

    await t.test('that are equal and race are stored once', async (t) => {
      const content = randomBytes(50_000)
      const all = await Promise.all(Array.from({ length: 50 }, () => up(gateway, content)))
      t.equal(all.filter(({ is_duplicate }) => is_duplicate).length, 49, '49 are duplicates')
      t.equal(new Set(all.map(({ id }) => id)).size, 1, 'of one file')
      t.ok((await contentOf(gateway, all[0]!.id)).bytes.equals(content))
      t.same(
        await gateway.gateway.supply({ sweep: Sweep }).sweep.now(0),
        { orphans: 0, expired: 0 },
        'and nothing else is left',
      )
    })

    await t.test('are found by what is asked for', async (t) => {
      const as = await keyFor(gateway, { organization: 'search', user: 'anna' })
      const types = ['image', 'document', 'video', 'audio', 'archive', 'general']
      const made: Record_[] = []
      for (const type_hint of types)
        made.push(await up(gateway, randomBytes(50), { type_hint, name_tag: `aa${type_hint.length}0` }, as))
      const ids = async (query: string) => (await listed(gateway, query, as)).data.files.map(({ id }) => id)
      const newest = made.map(({ id }) => id).reverse()
      t.same(await ids(''), newest, 'newest first')
      t.same(await ids('?limit=2&offset=1'), newest.slice(1, 3))
      t.match((await listed(gateway, '?limit=2&offset=1', as)).data.pagination, { total: 6, has_more: true })
      t.same(await ids('?type=video'), [made[2]!.id])
      for (const text of [made[3]!.id, made[3]!.id.toUpperCase()]) t.same(await ids(`?search=${text}`), [made[3]!.id])
      t.same(await ids(`?search=${String(made[4]!['kid']).slice(3, 20)}`), [made[4]!.id])
      t.same(await ids('?search=%25'), [], 'a percent sign is one')
      t.same(await ids(`?search=${encodeURIComponent(`' or 1=1 --`)}`), [], 'quotes are quotes')
      t.same(await ids('?search=_'), [], 'and nothing is a pattern')
      const today = new Date().toISOString().slice(0, 10)
      t.equal((await ids(`?from=${today}`)).length, 6)
      t.same(await ids(`?to=2020-01-01`), [])
      t.equal((await ids(`?from=2020-01-01T00:00:00Z&to=${today}`)).length, 6, 'a day to its end')
      for (const query of [
        'limit=0',
        'limit=101',
        'limit=x',
        'offset=-1',
        'type=exe',
        'from=yesterday',
        'to=2026-13-40',
        'from=2026-02-31T99:00',
      ])
        t.equal((await listed(gateway, `?${query}`, as)).status, 400, query)
    })

    await t.test('belong to one organisation and user', async (t) => {
      const content = randomBytes(100)
      const [one, colleague, other] = [
        await keyFor(gateway, { organization: 'one', user: 'anna' }),
        await keyFor(gateway, { organization: 'one', user: 'bert' }),
        await keyFor(gateway, { organization: 'other', user: 'anna' }),
      ]
      const { id } = await up(gateway, content, {}, one)
      for (const stranger of [colleague, other]) {
        t.equal((await up(gateway, content, {}, stranger)).is_duplicate, false, 'equal files of others are others')
        t.notOk((await listed(gateway, '', stranger)).data.files.some((file) => file.id === id))
        for (const [method, path, body] of [
          ['GET', '', undefined],
          ['GET', '/content', undefined],
          ['PATCH', '', { old_kid: 'a', kid: 'b', wrapped_dek: 'cc' }],
          ['DELETE', '', undefined],
        ] as const)
          t.equal((await gateway.call(method, `/files/encrypted/${id}${path}`, body, stranger)).status, 404, method)
      }
      const weak = await keyFor(gateway, { scopes: ['files.encrypted.read'], organization: 'one', user: 'anna' })
      const refused = await gateway.call('DELETE', `/files/encrypted/${id}`, undefined, weak)
      t.match(
        [refused.status, await refused.json()],
        [403, { validator: { scope: 'Expected a key with files.encrypted.delete' } }],
      )
      t.equal((await gateway.call('POST', '/files/encrypted/upload', uploadOf(content), weak)).status, 403)
      t.equal((await contentOf(gateway, id, weak)).answer.status, 200)
    })

    await t.test('refuse what is not right, and keep nothing of it', async (t) => {
      const good = uploadOf(randomBytes(64))
      const raw = JSON.stringify(good)
      const bad: Readonly<Record<string, string>> = {
        'odd hex': JSON.stringify({ ...good, encrypted_content: 'abc' }),
        'no hex': JSON.stringify({ ...good, encrypted_content: 'zz' }),
        'odd hex before other fields': `{"encrypted_content":"abc",${raw.slice(1)}`.replace(
          /,"encrypted_content":"[^"]*"/,
          '',
        ),
        'no content': JSON.stringify({ ...good, encrypted_content: undefined }),
        'empty content': JSON.stringify({ ...good, encrypted_content: '' }),
        'content that is no text': JSON.stringify({ ...good, encrypted_content: 5 }),
        'escapes in the content': JSON.stringify({ ...good, encrypted_content: 'X' }).replace('X', '\\u0061b'),
        'content twice': raw.replace('{', '{"encrypted_content":"ab",'),
        'cut off': raw.slice(0, -10),
        'cut off in the content': raw.slice(0, -80),
        'more behind it': `${raw}{}`,
        'no JSON': 'encrypted_content=ab',
        'an array': '[]',
        'a name too long': JSON.stringify({ ...good, encrypted_name: 'ab'.repeat(513) }),
        'a hash too long': JSON.stringify({ ...good, client_hash: 'a'.repeat(257) }),
        'a version that is none': JSON.stringify({ ...good, version: 3 }),
        'one retrieval field alone': JSON.stringify({ ...good, rag_dek_nonce: 'ab' }),
        'a field nested too deep': raw.replace('{', `{"x":${'['.repeat(65)}${']'.repeat(65)},`),
        ...Object.fromEntries(
          ['encrypted_name', 'client_hash', 'kid', 'wrapped_dek', 'mime_type'].map((field) => [
            `no ${field}`,
            JSON.stringify({ ...good, [field]: undefined }),
          ]),
        ),
      }
      const as = await keyFor(gateway, { organization: 'careless' })
      for (const [what, body] of Object.entries(bad)) {
        const answer = await gateway.call('POST', '/files/encrypted/upload', body, as)
        const text = await answer.text()
        t.equal(answer.status, 400, what)
        t.notMatch(text, good.encrypted_content.slice(2, 40), 'nothing echoed')
      }
      const form = { ...as, 'content-type': 'multipart/form-data; boundary=x' }
      for (const body of [
        '',
        '--x--',
        '--x\r\n\r\nab\r\n--x--',
        '--x\r\ncontent-disposition: form-data; name="kid"\r\n\r\na',
        '--y\r\n',
      ])
        t.equal((await gateway.call('POST', '/files/encrypted/upload', body, form)).status, 400, JSON.stringify(body))
      const packed = await gateway.call('POST', '/files/encrypted/upload', raw, { ...as, 'content-encoding': 'gzip' })
      t.equal(packed.status, 400, 'compressed')
      for (const id of ['..%2f..%2fetc', 'file_..', '%00', "file_'", `file_${'a'.repeat(3000)}`, '..'])
        for (const path of ['', '/content'])
          t.ok(
            [400, 404].includes((await gateway.call('GET', `/files/encrypted/${id}${path}`)).status),
            id.slice(0, 20),
          )
      t.same((await listed(gateway, '', as)).data.files, [])
      t.same(
        await gateway.gateway.supply({ sweep: Sweep }).sweep.now(0),
        { orphans: 0, expired: 0 },
        'nothing is half-stored',
      )
    })

    await t.test('whose sender leaves or lies about the length are not there', async (t) => {
      const raw = JSON.stringify(uploadOf(randomBytes(100_000)))
      const said = async (length: number, body: string): Promise<string> => {
        const socket = connect(Number(new URL(gateway.base).port), '127.0.0.1')
        socket.write(
          `POST /files/encrypted/upload HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n` +
            `content-type: application/json\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${body}`,
        )
        if (length > body.length) setTimeout(() => socket.destroy(), 100)
        return text(socket).catch(() => '')
      }
      const before = (await listed(gateway)).data.pagination
      t.equal(await said(raw.length + 10, raw.slice(0, -1000)), '', 'left in the middle')
      t.match(await said(raw.length - 10, raw), /^HTTP\/1.1 400 /, 'shorter than it is')
      await new Promise((resolve) => setTimeout(resolve, 100))
      t.same((await listed(gateway)).data.pagination, before)
      t.same(await gateway.gateway.supply({ sweep: Sweep }).sweep.now(0), { orphans: 0, expired: 0 })
      t.notOk(
        gateway.logged.some(({ event }) => event === 'fault'),
        'a client that leaves is no fault',
      )
    })
  })
}

t.test('an organisation has its quota', async (t) => {
  const gateway = await running(t, memory(), { ...unhurried, files: { quota: { bytes: 1000, files: 3 } } })
  await up(gateway, randomBytes(600))
  t.match(await json(await gateway.call('GET', '/files/storage')), {
    data: { stored: { bytes: 600, files: 1 }, quota: { bytes: 1000, files: 3 } },
  })
  const { credential } = await gateway.gateway.keys.create({ organization: 'other' })
  const authorization = `Bearer ${credential}`
  t.match(await json(await gateway.call('GET', '/files/storage', undefined, { authorization })), {
    data: { stored: { bytes: 0, files: 0 } },
  })
  const over = await gateway.call('POST', '/files/encrypted/upload', uploadOf(randomBytes(500)))
  t.match(await json(over), { error: 'The storage of the organisation is used up' })
  const small = await up(gateway, randomBytes(100))
  await up(gateway, randomBytes(100))
  t.equal((await gateway.call('POST', '/files/encrypted/upload', uploadOf(randomBytes(1)))).status, 400, 'too many')
  await gateway.call('DELETE', `/files/encrypted/${small.id}`)
  await up(gateway, randomBytes(100))
  t.same(await gateway.gateway.supply({ sweep: Sweep }).sweep.now(0), { orphans: 0, expired: 0 })
})

t.test('incognito files go by themselves', async (t) => {
  const gateway = await running(t, memory(), { ...unhurried, files: { incognito: 30, sweep: 100 } })
  const { id } = await up(gateway, randomBytes(10), { incognito: true })
  await new Promise((resolve) => setTimeout(resolve, 60))
  t.equal((await gateway.call('GET', `/files/encrypted/${id}`)).status, 404, 'over is over')
  await new Promise((resolve) => setTimeout(resolve, 250))
  const swept = gateway.logged.filter(({ event }) => event === 'files.swept')
  t.equal(
    swept.reduce((sum, { facts }) => sum + Number(facts['expired']), 0),
    1,
    'by the timer alone',
  )
})

t.test('a store that fails in the middle', async (t) => {
  const blobs = made(BlobStore, use(blobStore))
  const rows = made(MetadataStore, use(metadataStore))
  let broken: 'put' | 'create' | 'update' | null = null
  const fail = async (): Promise<never> => {
    throw new Error('secret detail')
  }
  const gateway = await running(t, {
    ...memory(),
    blobStore: given(BlobStore, 'breaking', () => ({
      ...blobs,
      async put(path, bytes, signal) {
        if (broken !== 'put') return blobs.put(path, bytes, signal)
        for await (const _ of bytes) await fail()
        return fail()
      },
    })),
    metadataStore: given(MetadataStore, 'breaking', () => ({
      ...rows,
      create: (kind, id, row) => (broken === 'create' && kind.name === 'file' ? fail() : rows.create(kind, id, row)),
      update: (kind, ...rest) => (broken === 'update' && kind.name === 'claim' ? fail() : rows.update(kind, ...rest)),
    })),
  })
  const contents = { put: randomBytes(200_000), create: randomBytes(200_000), update: randomBytes(200_000) }
  const paths = async () => {
    let count = 0
    for await (const _ of blobs.list('encrypted/')) count++
    return count
  }
  for (const way of ['put', 'create', 'update'] as const) {
    broken = way
    const answer = await gateway.call('POST', '/files/encrypted/upload', uploadOf(contents[way]))
    t.equal(answer.status, 503, way)
    t.notMatch(await answer.text(), /secret/)
  }
  broken = null
  t.equal((await listed(gateway)).data.files.length, 1, 'the last record came to be, though nobody was told')
  t.equal(await paths(), 2, 'and one file has no record')
  t.match(await up(gateway, contents.update), { is_duplicate: true }, 'whoever tries again is told')
  t.match(await gateway.gateway.supply({ sweep: Sweep }).sweep.now(0), { orphans: 1 })
  t.equal(await paths(), 1)
  t.same(
    (await rows.list(kind<object>('stored'), {})).rows.map(({ row }) => row),
    [{ bytes: 200_000, files: 1 }],
  )
})
