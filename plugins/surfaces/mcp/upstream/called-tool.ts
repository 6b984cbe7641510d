import * as v from 'valibot'
import type { Caller } from '../../../../core/access/caller.ts'
import type { BilledModel } from '../../../../core/inference/metering/meter.ts'
import { type Passage, passageThrough } from '../../../../core/ports/chat-filter.ts'
import type { Completion } from '../../../../core/ports/upstream.ts'
import { ModelSettings } from '../../../../core/settings.ts'
import { exact } from '../../../shared/long-numbers.ts'
import { pricedAt } from '../../../shared/prices.ts'
import { settled } from '../../shared/settle.ts'
import type { Arguments, ClearNeeds, Running } from '../offer.ts'
import type { ServedTool, ToolResult } from '../served-tools.ts'
import { mcpSettings } from '../settings.ts'

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
export const calledTool = async (
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
