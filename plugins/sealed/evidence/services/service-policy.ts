import { type PlatformPolicy, PolicyError, parsePolicy } from '../policy.ts'
import { Misshapen, hexOf, list, object, optional, text } from '../shape.ts'

const register = hexOf(48)

/** Firmware and its settings: the code that measures all that comes after it. */
const hardware = object({ mrtd: register, rtmr0: register })

const tinfoil = object({
  /** Releases of code by their signed measurements. */
  images: list(
    object({
      name: text(1, 256),
      'sev-snp': optional(register),
      tdx: optional(object({ rtmr1: register, rtmr2: register })),
    }),
    1,
    256,
  ),
  hardware: optional(list(hardware, 1, 1024)),
})

/** A system of dstack, by what its firmware measured. */
const system = object({
  name: text(1, 256),
  mrtd: register,
  rtmr0: list(register, 1, 64),
  rtmr1: register,
  rtmr2: register,
})

const dstack = object({
  systems: list(system, 1, 256),
  /** SHA-256 of accepted `app_compose` files. */
  compose: list(hexOf(32), 1, 256),
  /** Accepted ids of applications; any when absent. */
  apps: optional(list(hexOf(20), 1, 256)),
  /** SHA-256 of the statement about the provider of keys; any when absent. */
  keyProviders: optional(list(hexOf(32), 1, 64)),
})

const near = object({
  model: dstack,
  /** Needed when a model is reached by NEAR's gateway. */
  gateway: optional(dstack),
  /** SHA-256 of the files that a model's manager may start; empty when the listed applications start nothing later. */
  workloads: list(hexOf(32), 0, 1024),
})

/** Demands a token of NVIDIA's service. */
const gpu = object({
  /** SHA-256 of the certificates that issue the service's keys; the built-in one when absent. */
  issuers: optional(list(hexOf(32), 1, 16)),
})

const lists = object({ tinfoil: optional(tinfoil), dstack: optional(dstack), near: optional(near), gpu: optional(gpu) })

/** What a policy accepts of services. A service that no list names is refused. */
export type ServiceLists = ReturnType<typeof lists>
export type DstackLists = ReturnType<typeof dstack>

/** The demands on a service: on its platform as of any client, and on its image. */
export interface ServicePolicy {
  readonly platform: PlatformPolicy
  readonly lists: ServiceLists
}

/** Reads `services` beside the members of any other policy. Throws `PolicyError`. */
export const parseServicePolicy = (file: string): ServicePolicy => {
  const value = parsed(file)
  const { services, ...platform } = value
  for (const name of ['measurements', 'releases'])
    if (Object.hasOwn(platform, name)) throw new PolicyError(`${name} is of our own enclaves; services names images`)
  try {
    return { platform: parsePolicy(JSON.stringify(platform)), lists: lists(services ?? {}, 'services') }
  } catch (error) {
    throw error instanceof Misshapen ? new PolicyError(error.message, error) : error
  }
}

const parsed = (file: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(file)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch (cause) {
    throw new PolicyError('the file is no JSON', cause)
  }
  throw new PolicyError('the file is no object')
}
