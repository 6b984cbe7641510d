import { createHash } from 'node:crypto'
import type { Config } from './config.ts'
import { version } from './version.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** JSON with sorted keys and no space, as RFC 8785 has it for the strings, whole numbers and booleans of a manifest. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([, it]) => it !== undefined)
  return `{${fields
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, it]) => `${JSON.stringify(name)}:${canonical(it)}`)
    .join()}}`
}

/** Without what differs from start to start, and without secrets: a digest of those would let anybody try them. */
const lasting = ({ server, log, limits, storage, enclave: { listen, connect, tls, ...own }, ...config }: Config) =>
  JSON.parse(
    JSON.stringify({ ...config, enclave: own }, (name, value: unknown) =>
      /key|secret|token|password/i.test(name) && typeof value === 'string' ? null : value,
    ),
  ) as unknown

/** What runs inside, in one digest: the package, its configuration, the hosts that it talks to, and its models. */
export const releaseDigest = async (config: Config): Promise<Uint8Array> => {
  const providers = Object.values(config.enclave.providers ?? config.providers)
  const manifest = {
    version: await version(),
    configuration: sha256(canonical(lasting(config))),
    egress: providers.map(({ use, baseUrl }) => (typeof baseUrl === 'string' ? new URL(baseUrl).host : use)).sort(),
    models: Object.keys(config.models).sort(),
  }
  return new Uint8Array(createHash('sha256').update(canonical(manifest)).digest())
}
