import { once } from 'node:events'
import { Client, type VersionNegotiationMode } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import cache from '../../adapters/memory/cache.ts'
import { clock, fetch, log, random } from '../../adapters/memory/platform.ts'
import { readers } from '../../adapters/memory/readers.ts'
import { tools } from '../../adapters/memory/tools.ts'
import { Unavailable } from '../../core/errors.ts'
import { use } from '../../core/plugin.ts'
import { Enclave } from '../../core/ports/enclave.ts'
import { Tool } from '../../core/ports/tool.ts'
import type { Fitting } from '../../core/container.ts'
import type { Upstream } from '../../core/ports/upstream.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { buildEnclave } from '../../plugins/sealed/enclave/assemble.ts'
import dev from '../../plugins/evidence/dev.ts'
import rehearsal from '../../plugins/providers/rehearsal.ts'
import { type Running, running, unhurried } from '../environments.ts'
import { program } from './served.ts'
import { given } from '../fitted.ts'

export interface House extends Running {
  /** Every enclave is gone until the next is made, which has keys of its own. */
  lose(): void
  restart(): void
}

/** Whose models it serves, in the clear and sealed. */
export interface Models {
  readonly upstreams?: readonly Fitting<Upstream>[]
  readonly settings?: SettingsInput
}

/** A gateway whose tools of these names do what the test says; its enclave may be lost. */
export const toolHouse = async (
  t: Test,
  played: readonly Tool[],
  { upstreams = [use(rehearsal)], settings = {} }: Models = {},
): Promise<House> => {
  const own = played.map((tool) => given(Tool, tool.name, () => tool))
  const all = [...tools.filter(({ name }) => !played.some((tool) => tool.name === name)), ...own]
  const made = (): Enclave => {
    const platform = { clock: use(clock), random: use(random), fetch: use(fetch), log: use(log), cache: use(cache) }
    const enclaveParts = { ...platform, prover: use(dev), upstreams, tools: all, readers }
    return buildEnclave(enclaveParts, settings, {}, new Uint8Array(32))
  }
  let current: Enclave | null = made()
  const there = (): Enclave => {
    if (current === null) throw new Unavailable()
    return current
  }
  const losable = given(Enclave, 'losable', () => ({
    keys: async (...row) => there().keys(...row),
    attest: async (...row) => there().attest(...row),
    models: async (...row) => there().models(...row),
    handle: async (...row) => there().handle(...row),
    dispose: () => current?.dispose?.(),
  }))
  const gateway = await running(
    t,
    { ...memory(), enclave: losable, upstreams, tools: all },
    { ...unhurried, ...settings },
  )
  return { ...gateway, lose: () => void (current = null), restart: () => void (current = made()) }
}

export interface Agent {
  readonly client: Client
  readonly pid: number
  /** What the command said on standard error. */
  said(): string
  /** When the command is gone. */
  readonly gone: Promise<unknown>
}

export const modes: Readonly<Record<string, VersionNegotiationMode>> = {
  '2025-11-25': 'legacy',
  '2026-07-28': { pin: '2026-07-28' },
}

export interface Wish {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly mode?: VersionNegotiationMode
}

/** An agent's client, and the command as that client starts it. */
export const agent = async (
  t: Test,
  base: string,
  key: string,
  { args = [], env = {}, mode = 'legacy' }: Wish = {},
): Promise<Agent> => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', '--base-url', base, ...args],
    env: { PATH: process.env['PATH'] ?? '', SEALGATE_KEY: key, ...env },
    stderr: 'pipe',
  })
  let output = ''
  transport.stderr?.on('data', (part: Buffer) => (output += part))
  const client = new Client({ name: 'agent', version: '1.0.0' }, { versionNegotiation: { mode } })
  const gone = transport.stderr === null ? Promise.resolve() : once(transport.stderr, 'end')
  t.teardown(() => client.close())
  await client.connect(transport)
  return { client, pid: transport.pid as number, said: () => output, gone }
}
