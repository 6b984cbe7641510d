import * as v from 'valibot'
import { unlessAborted } from '../../../core/abort.ts'
import { hasScope, type Caller } from '../../../core/access/caller.ts'
import { isJsonObject } from '../../../core/dialects/json-object.ts'
import { print } from '../../../core/dialects/json.ts'
import { decideTool } from '../../shared/dialects/mcp/decide-tool.ts'
import { RpcError, rpcErrorCodes } from '../../shared/dialects/mcp/rpc.ts'
import { sentenceOf } from '../../../core/dialects/sentence.ts'
import { parseDecision } from '../../shared/decisions/typed-decision.ts'
import { printAnswered } from '../../shared/decisions/typed-decision-answer.ts'
import { runErrand } from '../../shared/errand.ts'
import { BadRequest, GatewayError, Unavailable, UpstreamFailed } from '../../../core/errors.ts'
import { defaultQueue } from '../../shared/fair-shares.ts'
import { schemaOf } from '../shared/json-schema.ts'
import type { Tool } from '../../../core/ports/tool.ts'
import { toldParams } from '../../shared/tool-params.ts'
import { checked } from '../../../core/validate.ts'
import { decisionFor, anyDecisionModel } from '../../shared/decisions/decide-for-caller.ts'
import { parametersOf } from '../shared/tool-schema.ts'
import { lazy } from '../../../core/plugin.ts'
import { type Arguments, type ClearNeeds, type Offer, type Running, plainArguments, usualParams } from './offer.ts'
import { mcpSettings } from './settings.ts'

type Clear = Extract<Tool, { kind: 'simple' }>

/** Bytes of a result. */
const mostResult = 4 * 1024 * 1024

/** Hints of MCP, by which clients decide whether to ask their user. */
const hints = { readOnlyHint: true, destructiveHint: false, openWorldHint: true }

/** All other tools are offered by `sealgate mcp` alone, which seals their calls. */
const isClear = (tool: Tool): tool is Clear => tool.kind === 'simple' && tool.clear === true

const offerOf = (tool: Clear, { organization, key }: Caller): Offer => ({
  described: {
    name: tool.name,
    ...{ description: tool.description, inputSchema: parametersOf(tool), annotations: hints },
  },
  async run(args, { signal }) {
    const { told, odd } = toldParams(tool.params, plainArguments(args, tool.mostParams ?? usualParams))
    if (odd !== null) throw new BadRequest('Validation failed', { validator: { [odd]: 'Unknown field' } })
    const params = checked(tool.params, told)
    // No model works for a tool in the clear.
    const errand = { organization, key, queue: defaultQueue, models: [], uses: [] }
    const running = runErrand(errand, () => tool.run(params, signal))
    // A tool that goes on after its caller left keeps no place of the key.
    const result = await unlessAborted(running, signal)
    return typeof result === 'string' ? result : JSON.stringify(result ?? null)
  },
})

const decideSchema = schemaOf(
  v.strictObject({
    ...decideTool.params,
    model: v.optional(v.pipe(v.string(), v.description('One that decides when absent'))),
  }),
)

const serverOffers = lazy(() => import('./upstream/offers.ts'))

const hasServers = ({ settings }: ClearNeeds): boolean => Object.keys(mcpSettings.of(settings).servers).length > 0

/** A decision by a tool counts in limits and usage as a decision on its own route. */
const decideOffer = (caller: Caller, given: ClearNeeds): Offer => ({
  described: {
    name: decideTool.name,
    ...{ description: decideTool.about, inputSchema: decideSchema, annotations: { ...hints, openWorldHint: false } },
  },
  async run(args, { signal }) {
    const known = ['state', 'questions', 'model']
    const odd = [...args.keys()].find((name) => !known.includes(name))
    if (odd !== undefined)
      throw new BadRequest('Validation failed', { validator: { [odd.slice(0, 100)]: 'Unknown field' } })
    const request = parseDecision(new Map([['model', anyDecisionModel], ...args]))
    return print(printAnswered(await decisionFor(request, caller, given, signal), 'diagnostics'))
  },
})

/** What the caller's key may call, by name: always in one order. */
const offersFor = async (caller: Caller, given: ClearNeeds, signal: AbortSignal): Promise<readonly Offer[]> => [
  ...(hasScope(caller, 'chats.completion') ? [decideOffer(caller, given)] : []),
  ...(hasScope(caller, 'tools.execute')
    ? given.tools
        .filter(isClear)
        .toSorted((one, other) => (one.name < other.name ? -1 : 1))
        .map((tool) => offerOf(tool, caller))
    : []),
  ...(hasServers(given) ? await (await serverOffers()).offersOfServers(caller, given, signal) : []),
]

/** Tools as `tools/list` has them, always in one order, so that clients can cache the list. */
export const listFor = async (caller: Caller, given: ClearNeeds, signal: AbortSignal): Promise<readonly object[]> =>
  (await offersFor(caller, given, signal)).map(({ described }) => described)

/** Absent ones come as an object without members. */
const argumentsOf = (args: unknown): Arguments => {
  if (args instanceof Map) return args as Arguments
  if (isJsonObject(args)) return new Map()
  throw new RpcError(rpcErrorCodes.params, 'arguments takes an object')
}

const content = (text: string) => [{ type: 'text', text }]

/** What the agent can mend, or what failed elsewhere, is a result that says so; a fault of ours throws. */
export const callFor = async (
  caller: Caller,
  given: ClearNeeds,
  name: string,
  args: unknown,
  running: Running,
): Promise<object> => {
  const { signal } = running
  const offer =
    (await offersFor(caller, given, signal)).find(({ described }) => described.name === name) ??
    (hasServers(given) ? await (await serverOffers()).offerOfServers(caller, given, name, signal) : undefined)
  // A tool that the key may not call is not there for it.
  if (offer === undefined) throw new RpcError(rpcErrorCodes.params, 'There is no such tool')
  const told = argumentsOf(args)
  try {
    const result = await offer.run(told, running)
    const [made, size] =
      typeof result === 'string'
        ? [{ content: content(result) }, Buffer.byteLength(result)]
        : [result, Buffer.byteLength(print(result))]
    if (size > mostResult) throw new UpstreamFailed('The result is too large')
    return made
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof GatewayError) || error instanceof Unavailable) throw error
    return { isError: true, content: content(sentenceOf(error)) }
  }
}
