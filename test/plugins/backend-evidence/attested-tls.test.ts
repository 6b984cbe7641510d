import { createHash } from 'node:crypto'
import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { BackendEvidence, type TlsForm } from '../../../core/ports/backend-evidence.ts'
import { toHex } from '../../../plugins/sealed/wire/bytes.ts'
import attestedTls from '../../../plugins/backend-evidence/attested-tls.ts'
import { backendEvidence } from '../../contracts/backend-evidence.ts'
import { conform } from '../../contracts/contract.ts'
import { made } from '../../fitted.ts'

const form = made(BackendEvidence, use(attestedTls)) as TlsForm
const document = (claims: unknown) => Buffer.from(JSON.stringify(claims))
const evidence = { type: 'sev-snp', v: 1 }

t.test('contract', (t) => conform(t, backendEvidence.contract, () => ({ form, document: document({ evidence }) })))

t.test('the subject has the bytes that another program makes', async (t) => {
  const key = Uint8Array.from({ length: 91 }, (_, at) => at)
  t.equal(form.place(new Uint8Array(32).fill(0xa5)), `/.well-known/sealgate-evidence?nonce=${'a5'.repeat(32)}`)
  const plain = form.read(document({ evidence, more: 1 }), key, null)
  t.strictSame(plain.evidence, evidence)
  t.equal(toHex(plain.subject), 'af5869aa37a82829717fdb96467f79db052c9ee12ce942cdec1c495b13f6b564')
  t.equal(toHex(plain.release), '00'.repeat(32))
  const released = form.read(document({ evidence, release: '07'.repeat(32) }), key, null)
  t.equal(toHex(released.subject), 'da6b5f073f442a7b10d6c7c67a2a0ee730c16ac1486b5e7154eb96640381e9c7')
  t.equal(toHex(released.release), '07'.repeat(32))
})

t.test('a release is a digest or absent', async (t) => {
  for (const release of ['07'.repeat(31), '07'.repeat(33), 'AB'.repeat(32), 7, null, ''])
    t.throws(() => form.read(document({ evidence, release }), new Uint8Array(91), null), { message: /no digest/ })
})

t.test('version 2 binds the connection, and version 1 says that it binds the key alone', async (t) => {
  const key = Uint8Array.from({ length: 91 }, (_, at) => at)
  const exporter = new Uint8Array(32).fill(0x3c)
  t.equal(form.exporterLabel, 'EXPORTER-sealgate-backend-evidence')
  t.equal(form.read(document({ evidence }), key, exporter).binds, 'key')
  const { binds, subject } = form.read(document({ evidence, version: 2 }), key, exporter)
  t.equal(binds, 'channel')
  const expected = createHash('sha256')
    .update('sealgate-backend-tls/2\0')
    .update(Uint8Array.of(0, 0, 0, 91))
    .update(key)
  t.equal(toHex(subject), expected.update(new Uint8Array(32)).update(exporter).digest('hex'))
  for (const version of [0, 3, '2', null])
    t.throws(() => form.read(document({ evidence, version }), key, exporter), { message: /version/ })
  t.throws(() => form.read(document({ evidence, version: 2 }), key, null), { message: /version/ })
})
