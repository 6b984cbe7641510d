import './fakes/unwatched.ts'
import type { Server } from 'node:http'
import type { Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { production } from '../adapters/production/index.ts'
import { type Adapters, type Gateway, createGateway } from '../core/gateway.ts'
import { plugin, use } from '../core/plugin.ts'
import { Log, type LogFacts } from '../core/ports/platform.ts'
import type { Renew } from '../core/generations/reload.ts'
import type { SettingsInput } from '../core/settings.ts'
import { onWay } from './ways.ts'
import { opensHttp } from './fakes/listening.ts'

export interface Running {
  readonly gateway: Gateway
  readonly server: Server
  readonly base: string
  /** A key with every scope. */
  readonly key: string
  /** Everything that was logged. */
  readonly logged: { readonly event: string; readonly facts: LogFacts; readonly cause?: unknown }[]
  /** Sends JSON, or a raw body, with the key unless told otherwise. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
}

/** A listening gateway that stops with its test. */
export const running = async (
  t: Test,
  adapters: Adapters,
  settings: SettingsInput = {},
  again: ((renew: Renew) => Promise<void>) | null = null,
): Promise<Running> => {
  const logged: { event: string; facts: LogFacts; cause?: unknown }[] = []
  const note = (event: string, facts: LogFacts = {}, cause?: unknown) => void logged.push({ event, facts, cause })
  const log = plugin({ port: Log, name: 'kept', create: (): Log => ({ info: note, warn: note, error: note }) })
  const gateway: Gateway = createGateway(
    { ...adapters, log: use(log) },
    onWay(settings),
    again && (() => again(gateway.renew)),
  )
  const server = gateway.server()
  t.teardown(() => gateway.close())
  const base = await opensHttp(t, server)
  const { credential: key } = await gateway.keys.create({})
  return {
    gateway,
    server,
    base,
    key,
    logged,
    call: (method, path, body, headers = {}) =>
      fetch(base + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  }
}

/** For tests that ask faster than a caller may. */
export const unhurried: SettingsInput = {
  limits: { key: { requestsPerSecond: null }, organization: { requestsPerSecond: null } },
}

/** The same sentences hold in both: everything in this process, and the embedded production defaults on a disk. */
export const environments: Readonly<Record<string, (t: Test) => Promise<Adapters>>> = {
  memory: async () => memory(),
  production: async (t) => production(checkedConfig({ log: { level: 'silent' } }, {}), t.testdir()),
}
