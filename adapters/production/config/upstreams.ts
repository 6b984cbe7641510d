import * as v from 'valibot'
import type { Fitting } from '../../../core/container.ts'
import { BackendEvidence } from '../../../core/ports/backend-evidence.ts'
import { Upstream } from '../../../core/ports/upstream.ts'
import type { TestRoots } from '../../../plugins/sealed/evidence/policy.ts'
import { type BackendEvidenceSettings, BackendEvidenceShape } from './backend-evidence.ts'
import { FaultyConfiguration, dotted, shapeFaultsOf } from './faults.ts'
import { type Choice, type Path, chosenPlugin } from './load-plugin.ts'

/** The settings of an upstream, and the evidence that it demands of its backend. */
export interface UpstreamChoice extends Choice {
  readonly evidence?: unknown
}

/**
 * Loads the backend that the configuration names at `path`. A backend with `evidence` gets no request before it is
 * verified. Only code can set test roots.
 */
export const chosenUpstream = async (
  path: Path,
  name: string,
  { evidence, ...choice }: UpstreamChoice,
  testRoots?: TestRoots,
): Promise<Fitting<Upstream>> => {
  const fitting = await chosenPlugin(Upstream, 'providers', path, choice, name)
  if (evidence === undefined) return fitting
  const { kind, policy, ...settings } = demanded(evidence, path)
  const form = await chosenPlugin(BackendEvidence, 'backend-evidence', [...path, 'evidence', 'kind'], { use: kind })
  const [{ backendPolicy }, { verifiedUpstream }] = await Promise.all([
    import('../backends/backend-policy.ts'),
    import('../backends/verified-upstream.ts'),
  ])
  const demand = {
    ...settings,
    origin: originOf(choice['baseUrl'], path),
    ...(await backendPolicy(policy, `${dotted(path)}.evidence.policy`, testRoots)),
  }
  return verifiedUpstream(fitting, form, demand)
}

/** Throws with the paths of all faults. */
const demanded = (evidence: unknown, path: Path): BackendEvidenceSettings => {
  const checked = v.safeParse(BackendEvidenceShape, evidence)
  if (!checked.success)
    throw new FaultyConfiguration(shapeFaultsOf(BackendEvidenceShape, evidence, [...path, 'evidence']))
  return checked.output
}

/** The only origin that the upstream may reach. */
const originOf = (baseUrl: unknown, path: Path): string => {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url?.protocol === 'https:') return url.origin
  const place = [...path, 'baseUrl']
  throw new FaultyConfiguration([
    { path: place, words: `${dotted(place)}: evidence needs an https URL of the backend` },
  ])
}
