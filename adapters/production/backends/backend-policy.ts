import { type PlatformPolicy, type TestRoots, parsePolicy, readPolicy } from '../../../core/sealed/evidence/policy.ts'
import { rulesOf } from '../../../core/sealed/evidence/rules.ts'

/** The policy of a configuration. A policy that cannot be used, or would verify nothing, throws with its path. */
export const backendPolicy = (said: object, path: string, testRoots?: TestRoots): PlatformPolicy => {
  const policy = checked(said, path)
  if (policy.measurements === undefined && (policy.releases === undefined || Array.isArray(policy.releases)))
    throw new Error(`${path} names neither measurements nor a signed list of releases`)
  return { ...policy, ...(testRoots && { testRoots }) }
}

/**
 * The rules are made once here, so that a policy that cannot be used fails at the start and not at a call.
 */
const checked = (said: object, path: string): PlatformPolicy => {
  try {
    const policy = parsePolicy(JSON.stringify(said))
    rulesOf(readPolicy(policy), Date.now())
    return policy
  } catch (cause) {
    throw new Error(`${path}: ${(cause as Error).message}`, { cause })
  }
}
