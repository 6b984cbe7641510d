import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readRecording } from '../../../../adapters/production/evidence/recording.ts'

/** A recording with one answer, whose manifest has these members. */
const recordingOf = (t: Test, manifest: object) => {
  const folder = t.testdir({
    'manifest.json': JSON.stringify(manifest),
    responses: { '1.json': '{"url":"https://a.example/.well-known/tinfoil-attestation"}', '1.body': '{}' },
  })
  return { folder, read: () => readRecording(folder) }
}

t.test('a manifest of a recording may leave out time and nonce', async (t) => {
  for (const manifest of [{}, { captured_at: null, nonce_hex: null }])
    t.match(await recordingOf(t, manifest).read(), { at: null, nonce: null, document: '{}' })
})

t.test('time and nonce of a recording are those of its manifest', async (t) => {
  const manifest = { captured_at: '2026-06-22T23:54:12.647939Z', nonce_hex: 'AB'.repeat(32) }
  const { at, nonce } = await recordingOf(t, manifest).read()
  t.equal(at, Date.UTC(2026, 5, 22, 23, 54, 12, 647))
  t.same(nonce, new Uint8Array(32).fill(0xab))
})

t.test('a manifest that cannot be read is refused by its file and its member', async (t) => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ...['', 'yesterday', '2026-06-31T25:00:00Z', 1_782_172_452].map((time) => ['captured_at', time] as const),
    ...['zz', 'ab'.repeat(33), 7].map((nonce) => ['nonce_hex', nonce] as const),
  ]
  for (const [name, value] of wrong) {
    const { folder, read } = recordingOf(t, { [name]: value })
    const message = `${join(folder, 'manifest.json')}: ${name} cannot be read`
    await t.rejects(read(), new Error(message), `${name}: ${String(value)}`)
  }
})
