import type { Supplied } from '../../../core/container.ts'
import { print } from '../../../core/dialects/json.ts'
import { type DecisionRequest, parseDecision } from '../../shared/decisions/typed-decision.ts'
import { printAnswered } from '../../shared/decisions/typed-decision-answer.ts'
import { BadRequest } from '../../../core/errors.ts'
import { decide } from '../../shared/decisions/decide.ts'
import type { DecisionNeeds } from '../../shared/decisions/decide-once.ts'
import { totalUsage } from '../../shared/total-usage.ts'
import { picturesWithin } from '../../shared/decisions/media.ts'
import { provenBy } from '../../../core/inference/proven.ts'
import type { Catalog } from '../../../core/inference/models/catalog.ts'
import type { Grant, SealedReply, Trailer } from '../../../core/ports/enclave.ts'
import { utf8 } from '../wire/bytes.ts'
import { type chatNeeds, confidentialModel } from './chat.ts'
import type { OpenedRequest } from './open.ts'
import { Refusal } from './refusals.ts'
import { printedReply, sealedFailure } from './reply.ts'

/** The name of any confidential model that decides. */
const latest = 'jev-latest'

/** Throws a Refusal with the first invalid field; the words of the check stay inside. */
const requestOf = ({ ordered = null }: OpenedRequest): DecisionRequest => {
  try {
    return parseDecision(ordered)
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error
    throw new Refusal('invalid_parameters', Object.keys(error.validator ?? {})[0] ?? null)
  }
}

/** The name itself when no confidential model decides; the look-up then refuses it. */
const modelFor = async (name: string, catalog: Catalog, grant: Grant, signal: AbortSignal): Promise<string> => {
  if (name !== latest || (await catalog.find(name, signal)) !== null) return name
  const first = (await catalog.list(signal)).find(
    (entry) => entry.settings.confidential && entry.does.has('decide') && (grant.models?.includes(entry.name) ?? true),
  )
  return first?.name ?? name
}

/** Decrypted questions → the decision of the clear route → one sealed answer. Only the gateway books the usage. */
export const decideSealed = async (
  opened: OpenedRequest,
  grant: Grant,
  { catalog, inference, clock }: Supplied<typeof chatNeeds>,
  total: number,
  signal: AbortSignal,
): Promise<SealedReply> => {
  const began = clock.now()
  const request = requestOf(opened)
  // The bill of a sealed decision has one model.
  if (request.escalate) throw new Refusal('invalid_parameters', 'escalate')
  const entry = await confidentialModel(
    catalog,
    grant,
    await modelFor(request.model, catalog, grant, signal),
    'decide',
    signal,
  )
  const images = await picturesWithin(request, total, clock, signal)
  const { provider, questions, state, samples, steps } = request
  let trailer: Trailer = { model: entry.name, backend: null, usage: null, audioSeconds: null }
  const settle = async (usage: Trailer['usage'], backend: string | null) =>
    // Prices of sealed models are those of the gateway, whichever backend answers.
    void (trailer = { ...trailer, usage: usage && totalUsage([usage]), backend })
  const noting: DecisionNeeds['inference'] = {
    async run(task, ask, signal) {
      const found = await inference.run(task, ask, signal)
      trailer = { ...trailer, ...provenBy(found.answer) }
      return found
    },
  }
  const deciding: DecisionNeeds = { inference: noting, clock, reserve: async () => ({ headers: {}, settle }) }
  const matter = { entry, larger: [], provider, questions, call: { state, images, samples, steps }, began, total }
  try {
    const decided = await decide(deciding, matter, signal)
    return printedReply(opened, utf8(print(printAnswered(decided, 'diagnostics'))), trailer)
  } catch (error) {
    signal.throwIfAborted()
    // Answers before the failure are billed.
    return sealedFailure(opened, error, trailer)
  }
}
