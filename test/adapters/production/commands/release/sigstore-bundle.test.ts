import '../../../../fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import {
  type AskedBundle,
  BundleRefusal,
  askedBundle,
  bundleReasons,
  checkBundle,
} from '../../../../../adapters/production/commands/release/sigstore-bundle.ts'
import { abilities, specsOf } from '../../../../../plugins/shared/optional-package.ts'
import { list, release } from '../../../../fakes/platform/house.ts'
import { releaseSigner, signedList } from '../../../../fakes/platform/releases.ts'
import { program } from '../../../../fakes/served.ts'
import {
  type BundleJson,
  type BundleParts,
  provenanceAbout,
  signedAt,
  sigstoreOf,
  someCommit,
  someIssuer,
  someone,
} from '../../../../fakes/sigstore.ts'

const artifact = Buffer.from('a package')
const other = Buffer.from('another package')
const own = sigstoreOf()
const trustedRoot = own.trustedRoot()

const said = (asked: Partial<AskedBundle> & { readonly text: string }, about = artifact) =>
  checkBundle({ identity: someone, issuer: someIssuer, trustedRoot, ...asked }, about).catch((error: unknown) => {
    if (error instanceof BundleRefusal) return error.reason
    throw error
  })
const made = (parts: Partial<BundleParts>, asked: Partial<AskedBundle> = {}) =>
  said({ text: own.bundle({ artifact, ...parts }), ...asked })

const about = provenanceAbout(artifact) as BundleJson
const rows: readonly (readonly [string, Partial<BundleParts>, string, Partial<AskedBundle>?])[] = [
  ['a statement about another file', { statement: provenanceAbout(other) }, 'bundle_of_other_subject'],
  ['a statement without a subject', { statement: { ...about, subject: [] } }, 'bundle_of_other_subject'],
  ['a signature over another file', { artifact: other, plain: true }, 'bundle_of_other_subject'],
  ['another file under the digest of this one', { plain: true, signs: other }, 'bundle_unsigned'],
  ['another statement under the signature', { signs: other }, 'bundle_unsigned'],
  ['another identity', { identity: someone.replace('v1', 'v2') }, 'bundle_of_other_identity'],
  ['a longer identity', { identity: `${someone}.1` }, 'bundle_of_other_identity'],
  ['a pattern for an identity', {}, 'bundle_of_other_identity', { identity: '.*' }],
  ['another issuer', { issuer: 'https://accounts.example.org' }, 'bundle_of_other_issuer'],
  ['another root', {}, 'bundle_untrusted', { trustedRoot: sigstoreOf().trustedRoot() }],
  ['a certificate that ended before it signed', { ends: signedAt - 1000 }, 'bundle_untrusted'],
  ['a certificate that no log has seen', { unseen: true }, 'bundle_untrusted'],
  [
    'an authority whose time was over',
    {},
    'bundle_untrusted',
    {
      trustedRoot: own.trustedRoot(
        (bundle) => (bundle.certificateAuthorities[0].validFor.end = '2026-01-01T00:00:00Z'),
      ),
    },
  ],
  [
    'a log of certificates that is not trusted',
    {},
    'bundle_untrusted',
    { trustedRoot: own.trustedRoot((bundle) => (bundle.ctlogs = [])) },
  ],
  [
    'a log that is not trusted',
    {},
    'bundle_unlogged',
    { trustedRoot: own.trustedRoot((bundle) => (bundle.tlogs = [])) },
  ],
  [
    'a log whose key was over',
    {},
    'bundle_unlogged',
    { trustedRoot: own.trustedRoot((bundle) => (bundle.tlogs[0].publicKey.validFor.end = '2026-01-01T00:00:00Z')) },
  ],
  ['another type of payload', { payloadType: 'text/plain' }, 'bundle_malformed'],
  [
    'another predicate',
    { statement: { ...about, predicateType: 'https://example.org/x' } },
    'bundle_of_other_statement',
  ],
  ['a predicate without a build', { statement: { ...about, predicate: {} } }, 'bundle_of_other_statement'],
  ['another type of statement', { statement: { ...about, _type: 'x' } }, 'bundle_malformed'],
]

const flipped = (text: string, at = 20): string =>
  `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
const entryOf = (bundle: BundleJson) => bundle.verificationMaterial.tlogEntries[0]
/** One thing of a whole bundle, changed after it was signed and logged. */
const changes: readonly (readonly [string, string, (bundle: BundleJson) => void])[] = [
  [
    'a byte of the signature',
    'bundle_unlogged',
    (bundle) => (bundle.dsseEnvelope.signatures[0].sig = flipped(bundle.dsseEnvelope.signatures[0].sig)),
  ],
  [
    'a byte of the statement',
    'bundle_unlogged',
    (bundle) => (bundle.dsseEnvelope.payload = flipped(bundle.dsseEnvelope.payload)),
  ],
  [
    'the type of the payload',
    'bundle_unsigned',
    (bundle) => (bundle.dsseEnvelope.payloadType = 'application/vnd.in-toto+jso'),
  ],
  ['no entry', 'bundle_unlogged', (bundle) => (bundle.verificationMaterial.tlogEntries = [])],
  ['no promise of the log, and so no time', 'bundle_unlogged', (bundle) => delete entryOf(bundle).inclusionPromise],
  ['no proof of inclusion', 'bundle_malformed', (bundle) => delete entryOf(bundle).inclusionProof],
  [
    'a byte of the promise',
    'bundle_unlogged',
    (bundle) =>
      (entryOf(bundle).inclusionPromise.signedEntryTimestamp = flipped(
        entryOf(bundle).inclusionPromise.signedEntryTimestamp,
      )),
  ],
  [
    'a byte of the proof',
    'bundle_unlogged',
    (bundle) => (entryOf(bundle).inclusionProof.hashes[0] = flipped(entryOf(bundle).inclusionProof.hashes[0])),
  ],
  [
    'another size of the log',
    'bundle_unlogged',
    (bundle) =>
      (entryOf(bundle).inclusionProof.checkpoint.envelope = entryOf(bundle).inclusionProof.checkpoint.envelope.replace(
        '\n2\n',
        '\n3\n',
      )),
  ],
  ['another place in the log', 'bundle_unlogged', (bundle) => (entryOf(bundle).inclusionProof.logIndex = '0')],
  ['another time', 'bundle_unlogged', (bundle) => (entryOf(bundle).integratedTime = String(signedAt / 1000 + 1))],
  [
    'a pattern for the name of a log',
    'bundle_malformed',
    (bundle) =>
      (entryOf(bundle).inclusionProof.checkpoint.envelope = entryOf(bundle).inclusionProof.checkpoint.envelope.replace(
        '\u2014 log.example.org',
        '\u2014 log.example.or[g]',
      )),
  ],
  [
    'a key without a certificate',
    'bundle_untrusted',
    (bundle) => (
      (bundle.verificationMaterial.publicKey = { hint: 'x' }),
      delete bundle.verificationMaterial.certificate
    ),
  ],
  ['no signature', 'bundle_malformed', (bundle) => delete bundle.dsseEnvelope],
  ['another media type', 'bundle_malformed', (bundle) => (bundle.mediaType = 'application/json')],
]

t.test('a bundle shows who signed a file, or a provenance about it', async (t) => {
  const facts = { identity: someone, issuer: someIssuer }
  t.strictSame(await made({}), { ...facts, commits: [someCommit] })
  t.strictSame(await made({ plain: true }), { ...facts, commits: null })
  t.strictSame(await made({ statement: { ...about, _type: 'https://in-toto.io/Statement/v0.1' } }), {
    ...facts,
    commits: [someCommit],
  })
  const two = { ...about, subject: [{ digest: { sha512: 'x' } }, ...about.subject] }
  t.strictSame(await made({ statement: two }), { ...facts, commits: [someCommit] }, 'one subject of several')
})

t.test('a bundle with one thing wrong refuses', async (t) => {
  for (const [name, parts, wanted, asked] of rows) t.equal(await made(parts, asked), wanted, name)
  for (const [name, wanted, change] of changes) t.equal(await made({ change }), wanted, name)
  for (const text of ['', '{', '[]', 'null', '1', '{}', '{"mediaType":1}'])
    t.equal(await said({ text }), 'bundle_malformed', text)
  for (let at = 10; at < 600; at += 59) {
    const change = (bundle: BundleJson) => {
      const { certificate } = bundle.verificationMaterial
      certificate.rawBytes = flipped(certificate.rawBytes, at)
    }
    t.match(await made({ change }), /^bundle_(untrusted|malformed|unsigned|of_other_identity)$/, `certificate at ${at}`)
  }
  const seen = new Set([
    ...rows.map(([, , text]) => text),
    ...changes.map(([, text]) => text),
    'bundle_of_other_commit',
  ])
  t.strictSame([...seen].sort(), Object.keys(bundleReasons).sort(), 'each reason has a case')
  for (const text of [
    '',
    '[',
    '{"tlogs":[{}]}',
    '{"certificateAuthorities":[{"certChain":{"certificates":[{"rawBytes":"AA=="}]}}]}',
  ])
    await t.rejects(made({}, { trustedRoot: text }), /--trusted-root holds no trusted root/, text)
})

t.test('a real bundle holds under the public roots of Sigstore', async (t) => {
  const [text, root] = await Promise.all(
    ['tinfoil_release.sigstore.json', 'trusted_root.json'].map((name) =>
      readFile(join('test/vectors/evidence/sigstore', name), 'utf8'),
    ),
  )
  const identity =
    'https://github.com/tinfoilsh/confidential-model-router/.github/workflows/build.yml@refs/tags/v0.0.38'
  const asked = { text: text!, trustedRoot: root!, identity, issuer: someIssuer }
  // Its statement is of a kind of its own, and everything before is right.
  t.equal(await said(asked), 'bundle_of_other_statement')
  t.equal(await said({ ...asked, identity: identity.replace('38', '39') }), 'bundle_of_other_identity')
  t.equal(await said({ ...asked, issuer: 'https://accounts.google.com' }), 'bundle_of_other_issuer')
  t.equal(await said({ ...asked, trustedRoot }), 'bundle_untrusted')
  const changed = JSON.parse(text!) as BundleJson
  changed.dsseEnvelope.payload = flipped(changed.dsseEnvelope.payload)
  t.equal(await said({ ...asked, text: JSON.stringify(changed) }), 'bundle_unlogged')
})

const ran = (args: readonly string[], before: readonly string[] = []) =>
  new Promise<{ code: number; out: string }>((resolve) => {
    const options = { env: { PATH: process.env['PATH'] } }
    execFile(process.execPath, [...before, program, 'releases', 'check', ...args], options, (error, out, err) =>
      resolve({ code: (error?.code as number | undefined) ?? 0, out: out + err }),
    )
  })

/** Where the packages of Sigstore were never installed. */
const without = `data:text/javascript,${encodeURIComponent(`
import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(\`
export const resolve = (name, context, next) => {
  if (name.startsWith('@sigstore/')) throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' })
  return next(name, context)
}\`))`)}`

t.test('the check of a list demands its bundle, too', async (t) => {
  const folder = t.testdir()
  const signer = releaseSigner()
  const { text, signatures } = signedList(list(1, [release('1.0', '00'.repeat(32), 'current', 0xab)]), [signer])
  const [file, bundle, root] = ['releases.json', 'bundle.json', 'root.json'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await writeFile(file, text)
  await writeFile(`${file}.sig`, JSON.stringify(signatures))
  await writeFile(root, trustedRoot)
  await writeFile(bundle, own.bundle({ artifact: Buffer.from(text) }))
  const signed = [file, '--signers', signer.key]
  const demanded = ['--bundle', bundle, '--identity', someone, '--issuer', someIssuer, '--trusted-root', root]
  const fine = await ran([...signed, ...demanded])
  t.match(fine, { code: 0, out: `✓ Sigstore: ${someone} signed it` })
  const told = await ran([...signed, ...demanded, '--json'])
  t.match(JSON.parse(told.out), { serial: 1, bundle: { identity: someone, issuer: someIssuer } })
  const lacking = await ran([...signed, ...demanded], ['--import', without])
  t.match(lacking, { code: 1, out: `npm i ${specsOf(abilities.filter(({ name }) => name === 'sigstore')).join(' ')}` })
  await writeFile(bundle, own.bundle({ artifact }))
  const refused = await ran([...signed, ...demanded])
  t.strictSame(refused, { code: 1, out: '✗ The bundle is about another file: bundle_of_other_subject\n' })

  const all = { bundle, identity: someone, issuer: someIssuer, 'trusted-root': root }
  t.equal(await askedBundle({}), null)
  t.match(await askedBundle(all), { identity: someone, trustedRoot })
  for (const name of Object.keys(all))
    await t.rejects(askedBundle({ ...all, [name]: undefined }), /belong together/, `without ${name}`)
  await writeFile(bundle, ' '.repeat(1024 * 1024 + 1))
  await t.rejects(askedBundle(all), /--bundle names a file of more than 1 MiB/)
})
