import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { connectedEnclaves } from '../../../adapters/production/enclave/enclave.ts'
import { fetch } from '../../../adapters/production/platform.ts'
import { use } from '../../../core/plugin.ts'
import { connect } from '../../../plugins/sealed/client/client.ts'
import type { Policy } from '../../../plugins/sealed/client/verify.ts'
import type { SettingsInput } from '../../../core/settings.ts'
import { running } from '../../environments.ts'
import { folderOf } from '../../helpers.ts'
import { enclosed } from '../served.ts'
import { releaseSigner, signedList } from './releases.ts'
import { answersFor, makers } from './services.ts'
import { makeSnp } from './snp.ts'

export const day = 86_400_000
export const now = Date.now()
export const platform = makeSnp({ now, reportData: new Uint8Array(64) })
export const testRoots = { 'sev-snp': platform.roots }
export const prover = resolve('dist/test/fakes/platform/prover.js')

/** A confidential process of this image and this configuration, which decides its digest. */
const machine = async (t: Test, listen: string, image: number, epoch = 3_600_000) => {
  const child = await enclosed(
    {},
    { providers: { rehearsal: { use: 'rehearsal' } }, enclave: { listen, epoch, evidence: { use: prover, image } } },
  )
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

/** A gateway in front of such processes, makers' services that the test plays, and signed lists. */
export const house = async (t: Test, images: readonly number[], settings: SettingsInput = {}) => {
  const folder = await folderOf(t)
  await mkdir(folder, { recursive: true })
  const sockets = images.map((_, at) => join(folder, `${at}.sock`))
  const children = await Promise.all(
    images.map((image, at) => machine(t, sockets[at]!, image, 3_600_000 + at * 60_000)),
  )
  const service = await makers(t)
  service.say(answersFor(platform.evidence))
  const releases = join(folder, 'releases.json')
  const { settings: collateral } = service
  const enclave = use(connectedEnclaves, { connect: sockets, collateral, releases, testRoots })
  const gateway = await running(t, { ...memory(), fetch: use(fetch, {}), enclave }, settings)
  const signer = releaseSigner()
  const publish = async (list: object) => {
    const { text, signatures } = signedList(list, [signer])
    await writeFile(`${releases}.sig`, JSON.stringify(signatures))
    await writeFile(releases, text)
  }
  const digestOf = async (name: string) => {
    const { keyset } = (await (await gateway.call('GET', `/rvenc/keys?enclave=${name}`)).json()) as { keyset: string }
    // The magic and the epoch come before it.
    return keyset.slice(2 * 23, 2 * 55)
  }
  const client = (policy: Policy) =>
    connect({ baseUrl: gateway.base, apiKey: gateway.key, policy: { testRoots, ...policy } })
  return { ...gateway, children, service, signer, publish, digestOf, client, folder, releases }
}

export const list = (serial: number, releases: readonly object[]) => ({
  ...{ format: 'sealgate-releases/1', name: 'example', serial, issued: now - day, ends: now + 30 * day, releases },
})
export const release = (version: string, digest: string, state: string, image: number) => ({
  ...{ version, digest, state, covers: 'the whole image' },
  'sev-snp': [{ measurement: Buffer.alloc(48, image).toString('hex'), vcpus: 4 }],
})
