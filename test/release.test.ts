import './fakes/unwatched.ts'
import { createHash, sign } from 'node:crypto'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { version } from '../adapters/production/config/version.ts'
import { cloneOf, commit, inFolder, smallRepository } from './fakes/clone.ts'
import { commandRunner } from './fakes/command-runner.ts'
import { type ReleaseSigner, releaseSigner } from './fakes/platform/releases.ts'
import { provenanceAbout, sigstoreOf, someIssuer, someone } from './fakes/sigstore.ts'
import { folderOf } from './helpers.ts'

const own = await version()
const [tarball, bill, provenance] = [`sealgate-${own}.tgz`, `sealgate-${own}.cdx.json`, `sealgate-${own}.intoto.json`]

const command = commandRunner(t)
const ran = async (args: readonly string[], cwd: string) => {
  const { code, stdout, stderr } = await command(['release', ...args], { HOME: cwd }, cwd)
  return { code, out: stdout + stderr }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The signatures of a changed file, by keys that a policy pins: an operator who signs what is wrong. */
const signAgain = async (file: string, format: string, signers: readonly ReleaseSigner[]) => {
  const data = Buffer.concat([
    Buffer.from(`${format}\0`),
    createHash('sha256')
      .update(await readFile(file))
      .digest(),
  ])
  const signatures = signers.map(({ key, secret }) => ({ key, signature: sign(null, data, secret).toString('hex') }))
  await writeFile(`${file}.sig`, JSON.stringify(signatures))
}

/** A release of a small package, made and signed by the commands. */
const released = async (t: Test) => {
  const folder = await folderOf(t)
  const [source, made] = [join(folder, 'source'), join(folder, 'made')]
  await mkdir(source)
  await smallRepository(source)
  const [config, images] = [join(folder, 'enclave.json'), join(folder, 'images.json')]
  const configured = { providers: { rehearsal: { use: 'rehearsal' } }, enclave: { listen: 'e.sock' } }
  await writeFile(config, JSON.stringify(configured))
  const measured = [{ measurement: 'ab'.repeat(48), vcpus: 4 }]
  await writeFile(images, JSON.stringify({ covers: 'the whole image', 'sev-snp': measured }))
  const builder = ['--builder', 'https://example.org/builders/one']
  const write = () => ran(['write', made, '--config', config, '--images', images, ...builder, '--name', 'x'], source)
  const signers = [releaseSigner(), releaseSigner()]
  const sign = async () => {
    for (const [at, { secret }] of signers.entries()) {
      const pem = join(folder, `${at}.pem`)
      await writeFile(pem, secret.export({ type: 'pkcs8', format: 'pem' }))
      t.match(await ran(['sign', made, '--signer', pem], source), { code: 0 })
    }
  }
  const keys = signers.map(({ key }) => key).join()
  const clone = await cloneOf(source, join(folder, 'quite another place'))
  const verify = (from = made, ...more: readonly string[]) =>
    ran(['verify', from, '--config', config, '--signers', keys, ...more], clone)
  /** A copy of the release in which one thing is changed; what the stranger's command says of it. */
  const changed = async (file: string, change: (text: string) => string, by: readonly ReleaseSigner[] = []) => {
    const other = join(folder, 'changed')
    await rm(other, { recursive: true, force: true })
    await cp(made, other, { recursive: true })
    const before = await readFile(join(other, file), 'latin1')
    const after = change(before)
    t.not(after, before, 'something is changed')
    await writeFile(join(other, file), after, 'latin1')
    const format = file === provenance ? 'sealgate-provenance/1' : 'sealgate-releases/1'
    if (by.length > 0) await signAgain(join(other, file), format, by)
    return verify(other)
  }
  return { folder, source, clone, made, config, configured, signers, write, sign, verify, changed }
}

t.test('a stranger makes a release again from its source', async (t) => {
  const release = await released(t)
  t.match(await release.write(), {
    code: 0,
    out: /✓ sealgate-.*\.tgz [0-9a-f]{64}\n✓ release digest [0-9a-f]{64}\n✓ list 1/,
  })
  t.match(await release.verify(), { code: 1, out: /^✗ .*releases_unsigned/ }, 'nobody signed yet')
  await release.sign()
  const fine = await release.verify()
  t.equal(fine.code, 0, fine.out)
  t.match(fine.out, /✓ the provenance is signed by 2 of these keys; it names https:\/\/example\.org\/builders\/one/)
  t.match(fine.out, /✓ the source gives the same package, [0-9a-f]{64}\n$/)
  const told = JSON.parse((await release.verify(release.made, '--json')).out)
  t.match(told, { verified: true, refused: null })
  t.equal(told.held.length, 6)

  const statement = JSON.parse(await readFile(join(release.made, provenance), 'utf8'))
  const bytes = await readFile(join(release.made, tarball))
  t.strictSame(statement.subject[0], { name: tarball, digest: { sha256: sha256(bytes) } })
  t.strictSame(statement.subject[1].digest, { sha256: sha256(await readFile(join(release.made, bill))) })
  const dependencies = statement.predicate.buildDefinition.resolvedDependencies
  t.equal(dependencies[0].digest.gitCommit, await inFolder(release.source, 'git', ['rev-parse', 'HEAD']))
  t.strictSame(
    dependencies.slice(2).map(({ name }: { name: string }) => name),
    ['node_modules/yaml', 'node_modules/typescript'],
    'what may build',
  )
  const list = JSON.parse(await readFile(join(release.made, 'releases.json'), 'utf8'))
  t.equal(list.releases[0].digest, statement.subject[2].digest.sha256)

  const { bundle, trustedRoot } = sigstoreOf()
  const [root, beside] = [join(release.folder, 'root.json'), join(release.folder, 'bundle.json')]
  await writeFile(root, trustedRoot())
  const bundled = async (commit: string) => {
    await writeFile(beside, bundle({ artifact: bytes, statement: provenanceAbout(bytes, commit) }))
    const asked = ['--bundle', beside, '--identity', someone, '--issuer', someIssuer, '--trusted-root', root]
    return release.verify(release.made, ...asked)
  }
  const commit = dependencies[0].digest.gitCommit
  t.match(await bundled(commit), { code: 0, out: `✓ Sigstore: ${someone} signed it` }, 'with a bundle of Sigstore')
  t.match(await bundled('cd'.repeat(20)), { code: 1, out: /bundle_of_other_commit\n$/ })

  // What is not in the commit is not in the package.
  await writeFile(join(release.source, 'index.ts'), 'export const answer: number = 43\n')
  t.match(await release.write(), { code: 0, out: /list 2 with 1 releases/ })
  t.strictSame(await readFile(join(release.made, tarball)), bytes)
})

t.test('a release is refused where one thing is another', async (t) => {
  const release = await released(t)
  t.match(await release.write(), { code: 0 })
  await release.sign()
  const { changed, signers, verify } = release
  const flipped = (text: string) =>
    `${text.slice(0, 99)}${String.fromCharCode(text.charCodeAt(99) ^ 1)}${text.slice(100)}`
  const unsigned = { code: 1, out: /^✗ .*releases_unsigned\n$/ }
  t.match(await changed(provenance, flipped), unsigned, 'a changed byte of the provenance')
  t.match(await changed('releases.json', flipped), { code: 1, out: /\n✗ .*releases_unsigned/ }, 'of the list')
  t.match(await changed(tarball, flipped), { code: 1, out: /✗ the package is another one/ }, 'of the package')
  t.match(await changed(bill, flipped), { code: 1, out: /✗ the bill of materials is another one/ }, 'of the bill')

  const stranger = releaseSigner()
  t.match(await verify(release.made, '--signers', stranger.key), unsigned, 'a foreign key')
  const three = [...signers.map(({ key }) => key), stranger.key].join()
  t.match(await verify(release.made, '--signers', three), unsigned, 'a key has not signed')
  t.match(await verify(release.made, '--signers', three, '--threshold', '2'), { code: 0 })
  t.match(await changed(provenance, (text) => `${text} `, [signers[0]!, stranger]), unsigned, 'one key of two')
  t.match(await verify(release.made, '--at', '2040-01-01T00:00:00Z'), { code: 1, out: /releases_expired/ })

  // Those who sign can say what is wrong, and the source shows it.
  const bytes = await readFile(join(release.made, tarball))
  const other = (text: string) => text.replace(sha256(bytes), '00'.repeat(32))
  t.match(await changed(provenance, other, signers), { code: 1, out: /✗ the package is another one/ })
  const withdrawn = (text: string) => text.replace('"current"', '"withdrawn"')
  t.match(await changed('releases.json', withdrawn, signers), { code: 1, out: /✗ the release is withdrawn/ })
  const elsewhere = (text: string) =>
    text.replace(/"digest": ".."/, '"digest": "').replace(/"digest": "../, '"digest": "00')
  t.match(await changed('releases.json', elsewhere, signers), { code: 1, out: /✗ the list of releases has another/ })
  const more = (text: string) => text.replace('"uri"', '"annotations": {}, "uri"')
  t.match(await changed(provenance, more, signers), { code: 1, out: /✗ the provenance says more than the source/ })
  t.match(await changed(provenance, () => '[]', signers), { code: 1, out: /✗ the provenance has another form/ })
  t.match(await changed(provenance, () => '{', signers), { code: 1, out: /✗ the provenance has another form/ })

  await writeFile(release.config, JSON.stringify({ ...release.configured, models: {} }))
  t.match(await verify(), { code: 0 }, 'the same in other words')
  const enclave = { ...release.configured.enclave, epoch: 7_200_000 }
  await writeFile(release.config, JSON.stringify({ ...release.configured, enclave }))
  t.match(await verify(), { code: 1, out: /✗ the configuration has another digest/ }, 'a changed configuration')
})

t.test('a release is refused where its source is another', async (t) => {
  const release = await released(t)
  t.match(await release.write(), { code: 0 })
  await release.sign()
  const { made, clone, verify } = release
  const installed = join(clone, 'node_modules/.package-lock.json')
  const locked = await readFile(installed, 'utf8')
  await writeFile(installed, locked.replace(/sha512-..../, 'sha512-AAAA'))
  t.match(await verify(), { code: 2, out: /is another package than the shrinkwrap locks/ }, 'a changed dependency')
  await rm(installed)
  t.match(await verify(), { code: 2, out: /npm ci has to run/ })
  await writeFile(installed, locked)

  /** The release as a builder would sign it who built something else under the name of this commit. */
  const builtFrom = async (change: () => Promise<void>) => {
    const before = await inFolder(release.source, 'git', ['rev-parse', 'HEAD'])
    await change()
    await commit(release.source)
    t.match(await release.write(), { code: 0 })
    const file = join(made, provenance)
    const after = await inFolder(release.source, 'git', ['rev-parse', 'HEAD'])
    await release.sign()
    t.match(await verify(), { code: 1, out: /✗ the source is at another commit/ })
    await writeFile(file, (await readFile(file, 'utf8')).replace(after, before))
    await signAgain(file, 'sealgate-provenance/1', release.signers)
    const verdict = await verify()
    await inFolder(release.source, 'git', ['reset', '--quiet', '--hard', before])
    return verdict
  }
  const byte = () => writeFile(join(release.source, 'index.ts'), 'export const answer: number = 41\n')
  t.match(await builtFrom(byte), { code: 1, out: /✗ the source gives another package; it was built with Node/ })
  const lock = join(release.source, 'npm-shrinkwrap.json')
  const dependency = async () => {
    const other = (await readFile(lock, 'utf8')).replace(/sha512-..../, 'sha512-AAAA')
    await writeFile(lock, other)
    await writeFile(join(release.source, 'node_modules/.package-lock.json'), other.replace(/"":\{.*?\}\},/, ''))
  }
  t.match(await builtFrom(dependency), { code: 1, out: /✗ the source locks other packages/ })
})

t.test('what is misused can not be looked at', async (t) => {
  const release = await released(t)
  const misused = async (args: readonly string[], out: RegExp) =>
    t.match(await ran(args, release.source), { code: 2, out })
  await misused([], /takes write, sign or verify/)
  await misused(['write', release.made], /--config FILE is needed/)
  await misused(['write', release.made, '--config', release.config], /--images FILE is needed/)
  await misused(
    ['write', release.made, '--config', release.config, '--images', release.config],
    /--builder URI is needed/,
  )
  await misused(
    ['write', release.made, '--config', release.config, '--images', release.config, '--builder', 'a:b'],
    /--images names a file/,
  )
  await misused(['verify', release.made, '--signers', 'ab', '--config', release.config], /--signers is a list/)
  await misused(['verify', release.made, '--signers', 'ab'.repeat(32), '--config', release.config], /ENOENT/)
})
