import * as v from 'valibot'
import { type Caller, hasScope } from '../../../../core/access/caller.ts'
import { BadRequest } from '../../../../core/errors.ts'
import { checked } from '../../../../core/validate.ts'
import { schemaOf } from '../../shared/json-schema.ts'
import { type ClearNeeds, type Offer, plainArguments, usualParams, type Arguments, type Running } from '../offer.ts'
import type { ServedTool, ToolResult } from '../served-tools.ts'
import { mcpSettings } from '../settings.ts'
import type { BilledModel } from '../../../../core/inference/metering/meter.ts'
import { type Passage, passageThrough } from '../../../../core/ports/chat-filter.ts'
import type { Completion } from '../../../../core/ports/upstream.ts'
import { ModelSettings } from '../../../../core/settings.ts'
import { exact } from '../../../shared/long-numbers.ts'
import { pricedAt } from '../../../shared/prices.ts'
import { settled } from '../../shared/settle.ts'

/** Bytes of the arguments of a tool of another server, beside those of a call by name. */
const mostArguments = 256 * 1024

const findParams = v.strictObject({
  query: v.pipe(v.string(), v.minLength(1), v.maxLength(400), v.description('What the tool should do, in a few words')),
  most: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(20), v.description('Tools to tell; 5 when absent')),
    5,
  ),
})
const callParams = v.strictObject({
  name: v.pipe(v.string(), v.description('A name that findTools tells')),
  arguments: v.optional(v.pipe(v.looseObject({}), v.description('As the inputSchema of the tool wants them')), {}),
})

const offerOf = (tool: ServedTool, caller: Caller, given: ClearNeeds): Offer => ({
  described: tool.described,
  run: async (args, running) => calledTool(tool, args, plainArguments(args, mostArguments), caller, given, running),
})

const finding = (caller: Caller, { servers }: ClearNeeds): Offer => ({
  described: {
    name: 'findTools',
    ...{
      description: 'Finds tools of other servers by what they do. Call a tool that it tells by callTool.',
      inputSchema: schemaOf(findParams),
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    },
  },
  async run(args, { signal }) {
    const { query, most } = checked(findParams, plainArguments(args, usualParams))
    const tools = await servers.find(caller, query, most, signal)
    return JSON.stringify({ tools: tools.map(({ described }) => described) })
  },
})

const calling = (caller: Caller, given: ClearNeeds): Offer => ({
  described: {
    name: 'callTool',
    ...{
      description: 'Calls a tool that findTools tells.',
      inputSchema: schemaOf(callParams),
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    },
  },
  async run(args, running) {
    const params = checked(callParams, plainArguments(args, mostArguments))
    const tool = await toolNamed(caller, given, params.name, running.signal)
    if (tool === undefined)
      throw new BadRequest('There is no such tool', { validator: { name: 'Expected one that findTools tells' } })
    const own = args.get('arguments')
    // The check leaves out names such as `constructor`, which guards have to see.
    return offerOf(tool, caller, given).run(own instanceof Map ? own : new Map(), running)
  },
})

const toolNamed = async (caller: Caller, { servers }: ClearNeeds, name: string, signal: AbortSignal) =>
  (await servers.tools(caller, signal)).find(({ described }) => described.name === name)

/** What a list has of other servers: two tools where the settings ask for the search, and otherwise all. */
export const offersOfServers = async (
  caller: Caller,
  given: ClearNeeds,
  signal: AbortSignal,
): Promise<readonly Offer[]> => {
  if (!hasScope(caller, 'tools.execute')) return []
  if (mcpSettings.of(given.settings).search) return [finding(caller, given), calling(caller, given)]
  return (await given.servers.tools(caller, signal)).map((tool) => offerOf(tool, caller, given))
}

/** A tool by its own name, which a list with the search leaves out. */
export const offerOfServers = async (
  caller: Caller,
  given: ClearNeeds,
  name: string,
  signal: AbortSignal,
): Promise<Offer | undefined> => {
  const tool = await toolNamed(caller, given, name, signal)
  return tool && offerOf(tool, caller, given)
}

/** What a call is billed as: the server, at its price by the call. */
const billedOf = (server: string, price: number): BilledModel => ({
  name: `mcp/${server}`,
  settings: pricedAt(v.parse(ModelSettings, { upstreams: [{ provider: server }] }), { any: { request_price: price } }),
})

/** A result with every digit of its numbers. */
const exactly = (structuredContent: object | undefined) =>
  structuredContent === undefined ? {} : { structuredContent: exact(structuredContent) as object }

/** The result after the guards: they see it as what a tool answers in a chat. What they leave as it was keeps its digits. */
const guarded = async (passage: Passage, { content, structuredContent, ...rest }: ToolResult): Promise<ToolResult> => {
  // A filter of one's own may change the object in its place.
  const before = JSON.stringify(structuredContent)
  const message = { role: 'tool', content, output: structuredContent }
  const completion = { choices: [{ index: 0, message, finish_reason: 'stop' }] } as unknown as Completion
  const answer = await passage.answer({ kind: 'completion', completion })
  const seen = answer.completion.choices[0]!.message as unknown as typeof message
  const marks = passage.marks()
  return {
    ...rest,
    content: seen.content,
    ...(JSON.stringify(seen.output) === before
      ? exactly(structuredContent)
      : seen.output && { structuredContent: seen.output }),
    ...(marks.length > 0 && { _meta: { 'sealgate/guards': marks } }),
  }
}

/**
 * Calls a tool of another server: the guards see arguments and result, and the call is on the caller's bill. Arguments
 * that no guard changes reach the server in their order and with every digit, and such a result keeps every digit.
 */
const calledTool = async (
  tool: ServedTool,
  args: Arguments,
  plain: Readonly<Record<string, unknown>>,
  caller: Caller,
  { servers, filters, meter, settings }: ClearNeeds,
  { signal, pace }: Running,
): Promise<ToolResult> => {
  const billed = billedOf(tool.server, mcpSettings.of(settings).servers[tool.server]!.price)
  const passage = passageThrough(filters, { model: billed.name, organization: caller.organization, pace })
  const { input } = passage === null ? { input: plain } : await passage.request({ input: plain }, signal)
  const reservation = await meter.reserve(caller, billed, { input: 0, output: 0 })
  const answer = servers.call(caller, tool, input === plain ? args : input, signal)
  const running = answer.then((answer) => ({ answer, backend: tool.server }))
  const result = await settled(reservation, running, () => ({ input: 0, output: 0 }))
  if (passage !== null) return guarded(passage, result)
  return { ...result, ...exactly(result.structuredContent) }
}
