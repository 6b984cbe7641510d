import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts'
import type { Container, PodSpec, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { checkedConfig } from '../../adapters/production/config/config.ts'

export const folder = 'examples/production'
export const read = (file: string) => readFile(join(folder, file), 'utf8')

export const sides = ['gateway', 'enclave'] as const
export type Side = (typeof sides)[number]
/** What is of both sides, from what is of one. */
const both = async <T>(of: (side: Side) => Promise<T>) => ({
  gateway: await of('gateway'),
  enclave: await of('enclave'),
})

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}

// Kubernetes reads YAML 1.1, where 0440 is octal.
const documents = async (file: string) =>
  parseAllDocuments(await read(file), { version: '1.1' }).map((document) => document.toJS() as Manifest)
export const manifestFiles = (await readdir(join(folder, 'kubernetes'))).map((file) => `kubernetes/${file}`)
export const manifests = (await Promise.all(manifestFiles.map(documents))).flat()
export const manifest = <T>(kind: string, name: string) => {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found as unknown as T
}

export interface ComposeService {
  readonly image: string
  readonly env_file: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly configs: readonly { readonly source: string; readonly target: string }[]
  readonly secrets: readonly { readonly source: string; readonly target: string }[]
  readonly networks: readonly string[] | Readonly<Record<string, { readonly aliases?: readonly string[] }>>
  readonly healthcheck: { readonly test: readonly string[] }
  readonly ports: readonly string[]
  readonly security_opt: readonly string[]
  readonly tmpfs: readonly string[]
  readonly volumes: readonly string[]
  readonly stop_grace_period: string
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
  readonly volumes: Readonly<Record<string, object>>
  readonly configs: Readonly<Record<string, { readonly file: string }>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

export const compose = parse(await read('compose.yaml'), { merge: true }) as Compose
export const composed = (side: Side) => compose.services[side === 'gateway' ? side : 'enclave-0']!

/** Instructions and what they say, in order. */
export const dockerfile = (await read('Dockerfile'))
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ word: line.replace(/ .*/, ''), said: line.replace(/^\w+ /, '') }))

const environmentOf = async (side: Side): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(
    [...(await read(`${side}.env.example`)).matchAll(/^(\w+)=(.*)$/gm)].map((match) => [match[1], match[2]]),
  )
export const env = await both(environmentOf)
export const raw = await both(
  async (side) => JSON.parse(await read(side === 'gateway' ? 'config.json' : 'enclave.json')) as Raw,
)
interface Raw {
  readonly enclave: object
  readonly limits?: object
}
export const config = await both(async (side) => checkedConfig(raw[side], env[side]))
/** The names that the configuration wants of the environment. */
export const wanted = (side: Side) => [...JSON.stringify(raw[side]).matchAll(/"\$(\w+)"/g)].map(([, name]) => name!)
export const portOf = (side: Side) =>
  side === 'gateway' ? config.gateway.server.port : Number(config.enclave.enclave.listen!.split(':')[1])

const workload = (side: Side): PodTemplateSpec =>
  manifest<StatefulSet>(side === 'gateway' ? 'Deployment' : 'StatefulSet', side).spec!.template
export const labels = (side: Side): Readonly<Record<string, string>> => workload(side).metadata!.labels!
export const pod = (side: Side): PodSpec => workload(side).spec!
/** Of the one container of its pods. */
export const container = (side: Side): Container => pod(side).containers[0]!
export const mountOf = (side: Side, volume: string) =>
  container(side).volumeMounts!.find(({ name }) => name === volume)!.mountPath
