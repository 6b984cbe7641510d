import { mayUse, type Caller } from '../../../core/access/caller.ts'
import type { DecisionRequest } from './typed-decision.ts'
import { BadRequest } from '../../../core/errors.ts'
import { picturesWithin } from './media.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import { servedModel } from '../models/find-model.ts'
import { rulesSettings } from '../rules/settings.ts'
import type { RequestRecord } from '../../../core/ports/observer.ts'
import { decide, type LargerModel } from './decide.ts'
import type { DecisionNeeds } from './decide-once.ts'
import type { CallerDecisionNeeds } from './decision-needs.ts'
import { decisionSettings } from './settings.ts'

/** The name that the stock client sends when its user names none. */
export const anyDecisionModel = 'jev-latest'

/** Whether a model answers decisions in the clear. */
export const decides = ({ does, settings }: Entry) => does.has('decide') && settings.standard

/** The model behind a name: an alias, a model of that name, or for the stock name the default. */
const resolve = async (
  name: string,
  caller: Caller,
  { catalog, settings }: CallerDecisionNeeds,
  signal: AbortSignal,
): Promise<string> => {
  const { aliases, default: byDefault } = decisionSettings.of(settings)
  const alias = Object.hasOwn(aliases, name) ? aliases[name] : undefined
  if (alias !== undefined) return alias
  if (name !== anyDecisionModel || (await catalog.find(name, signal)) !== null) return name
  if (byDefault !== undefined) return byDefault
  const first = (await catalog.list(signal)).find((entry) => decides(entry) && mayUse(caller, entry.name))
  return first?.name ?? name
}

const onlyChats = (entry: Entry | null): boolean =>
  entry !== null && entry.settings.standard && entry.does.has('chat') && !entry.does.has('decide')

const entryFor = async (
  name: string,
  caller: Caller,
  given: CallerDecisionNeeds,
  signal: AbortSignal,
): Promise<Entry> => {
  const { catalog, settings } = given
  const model = await resolve(name, caller, given, signal)
  const entry = await catalog.find(model, signal)
  const isRule = entry === null && Object.hasOwn(rulesSettings.of(settings), model)
  if (mayUse(caller, entry?.name ?? model) && (isRule || onlyChats(entry))) {
    const message = `The model only chats: send it to ${settings.prefix}/${settings.names.std}/chat/completions`
    // Any chat model can; whether this one should is for its operator to say.
    const expected = 'expected a model that decides; a chat model does with "decide": true in its settings'
    throw new BadRequest(message, { validator: { model: expected } })
  }
  return servedModel(catalog, caller, model, 'decide', signal)
}

/** A model that the settings name, where the caller may use it and it decides. */
const usableModel = async (
  name: string,
  caller: Caller,
  { catalog }: CallerDecisionNeeds,
  signal: AbortSignal,
): Promise<Entry | null> => {
  const found = mayUse(caller, name) ? await catalog.find(name, signal) : null
  return found !== null && decides(found) ? found : null
}

/** Who is asked again about what stays uncertain, in order; a pinned backend is taken at its word. */
const largerThan = async (
  entry: Entry,
  request: DecisionRequest,
  caller: Caller,
  given: CallerDecisionNeeds,
  signal: AbortSignal,
): Promise<readonly LargerModel[]> => {
  const { escalate, escalateFrom } = decisionSettings.of(given.settings)
  const own = request.escalate
  if (request.provider !== null || own === false) return []
  const ruleFor = (name: string) => (Object.hasOwn(escalateFrom, name) ? escalateFrom[name] : undefined)
  const chain: LargerModel[] = []
  const met = new Set([entry.name])
  let rule = own ?? ruleFor(entry.name) ?? escalate
  const most = rule?.most ?? 0
  while (rule !== undefined && chain.length < most && !met.has(rule.to)) {
    const larger =
      rule === own
        ? await servedModel(given.catalog, caller, rule.to, 'decide', signal)
        : await usableModel(rule.to, caller, given, signal)
    if (larger === null) break
    chain.push({ entry: larger, below: rule.below })
    met.add(larger.name)
    rule = ruleFor(larger.name)
  }
  return chain
}

/** The answers to a caller's questions, on the caller's bill. */
export const decisionFor = async (
  input: DecisionRequest,
  caller: Caller,
  given: CallerDecisionNeeds,
  signal: AbortSignal,
  record?: RequestRecord,
  refusals = false,
): ReturnType<typeof decide> => {
  const { inference, meter, clock, settings } = given
  const began = clock.now()
  const total = settings.timeouts.decision
  const entry = await entryFor(input.model, caller, given, signal)
  const larger = await largerThan(entry, input, caller, given, signal)
  const images = await picturesWithin(input, total, clock, signal)
  const { provider, questions, state, samples, steps } = input
  const call = { state, images, samples, steps }
  const reserve: DecisionNeeds['reserve'] = async (entry, estimate) => meter.reserve(caller, entry, estimate, record)
  const matter = { entry, larger, provider, questions, call, began, total, refusals }
  const asking: DecisionNeeds['inference'] =
    record === undefined
      ? inference
      : { run: (task, ...rest) => inference.run({ ...task, request: record.id }, ...rest) }
  return decide({ inference: asking, reserve, clock }, matter, signal)
}
