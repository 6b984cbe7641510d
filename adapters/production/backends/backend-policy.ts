import {
  type PlatformPolicy,
  type TestRoots,
  parsePolicy,
  readPolicy,
} from '../../../plugins/sealed/evidence/policy.ts'
import { rulesOf } from '../../../plugins/sealed/evidence/rules.ts'
import type { ServiceLists } from '../../../plugins/sealed/evidence/services/service-policy.ts'

/** What a configuration accepts. `services` is for a service that exists. */
interface AcceptedBackend {
  readonly policy: PlatformPolicy
  readonly services?: ServiceLists
}

/** The policy of a configuration. A policy that cannot be used, or would verify nothing, throws with its path. */
export const backendPolicy = async (written: object, path: string, testRoots?: TestRoots): Promise<AcceptedBackend> => {
  const { policy, services } = await checked(written, path)
  const namesCode = policy.measurements !== undefined || (policy.releases && !Array.isArray(policy.releases))
  if (services === undefined && !namesCode)
    throw new Error(`${path} names neither measurements nor a signed list of releases`)
  return { policy: { ...policy, ...(testRoots && { testRoots }) }, ...(services && { services }) }
}

/** The rules are made once here, so that a policy that cannot be used fails at the start and not at a call. */
const checked = async (policy: object, path: string): Promise<AcceptedBackend> => {
  try {
    const accepted = await parsed(policy)
    rulesOf(readPolicy(accepted.policy), Date.now())
    return accepted
  } catch (cause) {
    throw new Error(`${path}: ${(cause as Error).message}`, { cause })
  }
}

const parsed = async (written: object): Promise<AcceptedBackend> => {
  const text = JSON.stringify(written)
  if (!('services' in written)) return { policy: parsePolicy(text) }
  const { parseServicePolicy } = await import('../../../plugins/sealed/evidence/services/service-policy.ts')
  const { platform: policy, lists: services } = parseServicePolicy(text)
  return { policy, services }
}
