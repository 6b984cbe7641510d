import type { Supplied } from '../../container.ts'
import { print } from '../../dialects/json.ts'
import { type DecisionRequest, parseDecision } from '../../dialects/typed-decision.ts'
import { printAnswered } from '../../dialects/typed-decision-answer.ts'
import { BadRequest } from '../../errors.ts'
import { decide } from '../../inference/decisions/decide.ts'
import type { DecisionNeeds } from '../../inference/decisions/decide-once.ts'
import { picturesWithin } from '../../inference/media/media.ts'
import { provenBy } from '../../inference/proven.ts'
import type { Catalog } from '../../inference/models/catalog.ts'
import type { Grant, SealedReply, Trailer } from '../../ports/enclave.ts'
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
    (entry) =>
      entry.settings.confidential &&
      entry.does.has('decide') &&
      (grant.models === null || grant.models.includes(entry.name)),
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
    void (trailer = { ...trailer, usage, backend })
  const noting: DecisionNeeds['inference'] = {
    async run(task, ask, signal) {
      const found = await inference.run(task, ask, signal)
      trailer = { ...trailer, ...provenBy(found.answer) }
      return found
    },
  }
  const deciding: DecisionNeeds = { inference: noting, clock, reserve: async () => ({ headers: {}, settle }) }
  const matter = { entry, larger: null, provider, questions, call: { state, images, samples, steps }, began, total }
  try {
    const decided = await decide(deciding, matter, signal)
    return printedReply(opened, utf8(print(printAnswered(decided, 'diagnostics'))), trailer)
  } catch (error) {
    signal.throwIfAborted()
    // Answers before the failure are billed.
    return sealedFailure(opened, error, trailer)
  }
}
