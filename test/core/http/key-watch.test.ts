import '../../fakes/unwatched.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import blobStore from '../../../adapters/memory/blob-store.ts'
import { memory } from '../../../adapters/memory/index.ts'
import { plugin, use } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { keyWatch } from '../../../core/http/key-watch.ts'
import metadataStore from '../../../adapters/memory/metadata-store.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { fakeClock } from '../../fakes/clock.ts'
import { running, unhurried } from '../../environments.ts'
import { formOf } from '../../fakes/uploads.ts'
import { given } from '../../fitted.ts'

/** A store whose contents come byte by byte, for as long as somebody reads. */
const slowly = (): BlobStore => {
  const inner: BlobStore = blobStore.create({}, {}, 'blobs')
  async function* dripping(size: number) {
    for (let at = 0; at < size; at++) {
      yield Buffer.alloc(1)
      await sleep(20)
    }
  }
  return {
    ...inner,
    async get(...given) {
      const found = await inner.get(...given)
      return found && { ...found, bytes: dripping(found.size) }
    },
  }
}

t.test('what runs under a key ends soon after the key does', { timeout: 60_000 }, async (t) => {
  const store = use(plugin({ port: BlobStore, name: 'slow', create: slowly }))
  const gateway = await running(t, { ...memory(), blobStore: store }, { ...unhurried, timeouts: { revoked: 1_000 } })
  const body = formOf(Buffer.alloc(200_000, 1))
  const sent = await fetch(`${gateway.base}/files/encrypted/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body,
  })
  const { data } = (await sent.json()) as { data: { id: string } }
  const made = async (more: object) => gateway.gateway.keys.create({ scopes: ['files.encrypted.read'], ...more })
  const begun = async (credential: string) => {
    const headers = { authorization: `Bearer ${credential}` }
    const answer = await fetch(`${gateway.base}/files/encrypted/${data.id}/content`, { headers })
    t.equal(answer.status, 200)
    let ended = false
    const over = answer.bytes().then(
      () => (ended = true),
      () => (ended = true),
    )
    return { over, ended: () => ended, cancel: () => over }
  }
  const [revoked, standing] = [await made({}), await made({})]
  const short = await made({ expires_at: Date.now() + 1_500 })
  const [one, other, third] = [
    await begun(revoked.credential),
    await begun(standing.credential),
    await begun(short.credential),
  ]
  await sleep(700)
  t.notOk(one.ended(), 'nothing ends before')
  await gateway.gateway.keys.revoke(revoked.row.id, null)
  const before = performance.now()
  await one.over
  const took = performance.now() - before
  t.ok(took < 3_000, `${took} ms after the revocation`)
  await third.over
  t.notOk(other.ended(), 'another key goes on')
})

t.test('a key that another process revoked ends what runs under it here', { timeout: 60_000 }, async (t) => {
  const rows = metadataStore.create({}, {}, 'rows') as MetadataStore
  const shared = given(MetadataStore, 'shared', () => rows)
  const blobs = slowly()
  const store = given(BlobStore, 'slow', () => blobs)
  const settings = { ...unhurried, timeouts: { revoked: 1_000 } }
  const here = await running(t, { ...memory(), metadataStore: shared, blobStore: store }, settings)
  const there = await running(t, { ...memory(), metadataStore: shared, blobStore: store }, settings)
  const { credential, row } = await here.gateway.keys.create({})
  const headers = { authorization: `Bearer ${credential}` }
  const body = formOf(Buffer.alloc(200_000, 1))
  const sent = await fetch(`${here.base}/files/encrypted/upload`, { method: 'POST', headers, body })
  const { data } = (await sent.json()) as { data: { id: string } }
  const answer = await fetch(`${here.base}/files/encrypted/${data.id}/content`, { headers })
  t.equal(answer.status, 200)
  await sleep(700)
  await there.gateway.keys.revoke(row.id, null)
  const before = performance.now()
  await t.rejects(answer.bytes(), { name: 'TypeError', message: 'terminated' })
  t.ok(performance.now() - before < 3_000)
})

t.test('a clock that is set back or forwards keeps no revoked key, and cuts no other', async (t) => {
  for (const jump of [-3_600_000, 3_600_000]) {
    const clock = fakeClock()
    let offset = 0
    const jumping = { ...clock, now: () => clock.now() + offset }
    let revoked = false
    const keyOf = async () => ({ revoked_at: revoked ? 1 : null, expires_at: null }) as never
    const watch = keyWatch(
      keyOf,
      () => [],
      jumping,
      (error) => t.fail(String(error)),
    )
    let cuts = 0
    watch.began({ key: 'key_a' } as never, { destroy: () => void cuts++ } as never, 1_000)
    await clock.pass(600)
    offset = jump
    await clock.pass(1_000)
    t.equal(cuts, 0)
    revoked = true
    await clock.pass(1_000)
    t.equal(cuts > 0, true, `revoked after a jump of ${jump} ms`)
  }
})

t.test('what runs under a login or a session ends with it, as keys do', async (t) => {
  const clock = fakeClock()
  const living = new Map([
    ['login', 'person_a'],
    ['session', 'key_b'],
    ['standing', 'person_c'],
    ['changed', 'person_d'],
  ])
  let isReachable = true
  const kind = {
    takes: (credential: string) => credential !== 'strange',
    async find(credential: string) {
      if (!isReachable) throw new Error('The issuer is out of reach')
      const key = living.get(credential)
      return key === undefined ? null : ({ caller: { key }, admits: () => true } as never)
    },
  }
  let kinds = [kind]
  let faults = 0
  const watch = keyWatch(
    async () => null,
    () => kinds,
    clock,
    () => void faults++,
  )
  const cut: string[] = []
  for (const [credential, key] of living) {
    const response = { destroy: () => void cut.push(credential) } as never
    watch.began({ key }, response, 1_000, () => credential)
  }
  await clock.pass(1_000)
  t.same(cut, [])
  living.delete('login')
  living.delete('session')
  living.set('changed', 'person_e')
  isReachable = false
  await clock.pass(1_000)
  t.same(cut, [], 'an issuer out of reach cuts nothing')
  t.ok(faults > 0)
  isReachable = true
  await clock.pass(500)
  t.same(cut.sort(), ['changed', 'login', 'session'])
  kinds = []
  await clock.pass(500)
  t.ok(cut.includes('standing'), 'a kind of credentials that is gone ends its logins')
})
