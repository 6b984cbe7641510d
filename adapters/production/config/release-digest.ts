import { createHash } from 'node:crypto'
import { splitEnclaveSettings } from './enclave-parts.ts'
import { type Config, plainModels } from './config.ts'
import type { EnclaveStart } from '../enclave/harden.ts'
import { withoutVariables } from './variables.ts'
import { version } from './version.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** JSON with sorted keys and no blanks, as in RFC 8785 for strings, integers and booleans. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${fields
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
    .join()}}`
}

/** Removes all strings under a field with a secret's name. */
const withoutSecrets = (value: unknown, secret = false): unknown => {
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, secret))
  if (typeof value !== 'object' || value === null) return secret && typeof value === 'string' ? null : value
  const fields = Object.entries(value).map(([name, member]) => [
    name,
    withoutSecrets(member, /key|secret|token|password/i.test(name)),
  ])
  return Object.fromEntries(fields)
}

type Choices = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A header of any name may contain a secret. */
const withoutHeaders = (choices: Choices): Choices =>
  Object.fromEntries(
    Object.entries(choices).map(([name, { headers, ...rest }]) => [
      name,
      { ...rest, ...(headers !== undefined && { headers: Object.keys(headers as object).sort() }) },
    ]),
  )

/** The demands on backends, as they count: a policy has no secrets, and its keys and variables decide whom it trusts. */
const demandsOf = (choices: Choices): object => {
  const demands = Object.entries(choices).filter(([, { evidence }]) => evidence !== undefined)
  if (demands.length === 0) return {}
  const told = demands.map(([name, { evidence }]) => [name, evidence])
  return { backends: sha256(canonical(Object.fromEntries(told))) }
}

/**
 * Removes secrets and all settings that differ between starts. With secrets in the digest, anyone could test guesses.
 */
const lasting = ({ $schema, server, log, limits, storage, guards, enclave, ...config }: Config) => {
  const { listen, connect, tls, allowDev, ...own } = splitEnclaveSettings(enclave).inside
  const providers = withoutHeaders(config.providers)
  const inside = own.providers && { providers: withoutHeaders(own.providers) }
  return withoutSecrets({ ...config, providers, enclave: { ...own, ...inside } })
}

/**
 * One digest of the enclave's content: the package, its start, its configuration, the hosts it connects to, and its
 * models.
 */
export const releaseDigest = async (config: Config, start: EnclaveStart): Promise<Uint8Array> => {
  const choices = config.enclave.providers ?? config.providers
  const providers = Object.values(choices)
  const { options, arguments: words, variables } = start
  const manifest = {
    version: await version(),
    start: { arguments: words, options, variables },
    configuration: sha256(canonical(withoutVariables(lasting(config), start.written))),
    egress: providers.map(({ use, baseUrl }) => (typeof baseUrl === 'string' ? new URL(baseUrl).host : use)).sort(),
    models: Object.keys(plainModels(config)).sort(),
    ...demandsOf(choices),
  }
  return new Uint8Array(createHash('sha256').update(canonical(manifest)).digest())
}
