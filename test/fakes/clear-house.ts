import { once } from 'node:events'
import type { Test } from 'tap'
import * as v from 'valibot'
import { memory } from '../../adapters/memory/index.ts'
import { BadRequest } from '../../core/errors.ts'
import { Tool } from '../../core/ports/tool.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { type Running, running, unhurried } from '../environments.ts'
import { given } from '../fitted.ts'

export interface ClearHouse extends Running {
  /** What the tool that waits was asked, and that it was stopped. */
  readonly waited: string[]
  /** Calls of the tool that may only run inside. */
  readonly inside: string[]
}

const query = v.object({ query: v.string() })
const nothing = v.object({})

const mind: Upstream = {
  name: 'mind',
  models: async () => [{ id: 'sure', type: 'DECISION' }],
  decide: async ({ questions }) => ({
    distributions: questions.map(() => ({ probabilities: [0.75, 0.25] })),
    usage: { input: 1, output: 1 },
    engine: 'native',
  }),
}

/** A gateway with tools in the clear: its own, one that waits, those of the conformance suite, and one of the inside. */
export const clearHouse = async (t: Test, settings: SettingsInput = {}): Promise<ClearHouse> => {
  const [waited, inside]: [string[], string[]] = [[], []]
  const simple = { kind: 'simple', description: 'Played', clear: true } as const
  const played: readonly Tool[] = [
    {
      ...simple,
      name: 'webSearchTool',
      params: query,
      async run({ query }: { query: string }, signal: AbortSignal) {
        waited.push(query)
        await once(signal, 'abort')
        waited.push('stopped')
        throw signal.reason
      },
    },
    {
      ...simple,
      name: 'test_simple_text',
      params: nothing,
      run: async () => 'This is a simple text response for testing.',
    },
    {
      ...simple,
      name: 'test_error_handling',
      params: nothing,
      async run() {
        throw new BadRequest('This tool intentionally returns an error for testing')
      },
    },
    {
      kind: 'simple',
      description: 'Played',
      name: 'sealedAlone',
      params: query,
      run: async ({ query }: { query: string }) => inside.push(query),
    },
  ]
  const base = memory()
  const own = played.map((tool) => given(Tool, tool.name, () => tool))
  const tools = [...base.tools.filter(({ name }) => !played.some((tool) => tool.name === name)), ...own]
  const upstreams = [given(Upstream, 'mind', () => mind)]
  const gateway = await running(t, { ...base, tools, upstreams }, { ...unhurried, ...settings })
  return { ...gateway, waited, inside }
}
