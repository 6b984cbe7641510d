import t from 'tap'
import * as v from 'valibot'
import { memory } from '../../adapters/memory/index.ts'
import { createGateway } from '../../core/gateway.ts'
import { type AnyPlugin, plugin, use } from '../../core/plugin.ts'
import { ChatFilter } from '../../core/ports/chat-filter.ts'
import { Credentials } from '../../core/ports/credentials.ts'
import { Guard } from '../../core/ports/guard.ts'
import { Ledger } from '../../core/ports/ledger.ts'
import { Observer } from '../../core/ports/observer.ts'
import { Log } from '../../core/ports/platform.ts'
import { RateLimiter } from '../../core/ports/rate-limiter.ts'
import { Tool } from '../../core/ports/tool.ts'
import openai from '../../plugins/providers/openai.ts'
import vllm from '../../plugins/providers/vllm.ts'

const refusalOf = (make: () => unknown): string => {
  try {
    make()
    return 'nothing'
  } catch (error) {
    return (error as Error).message
  }
}

const ownTool = plugin({
  port: Tool,
  name: 'own',
  create: () => ({
    name: 'own',
    description: 'Does',
    kind: 'simple' as const,
    params: v.object({}),
    run: async () => 1,
  }),
})

t.test('a gateway refuses parts of the wrong shape in words', (t) => {
  const bare = createGateway as (parts?: unknown) => unknown
  const cases: readonly (readonly [parts: unknown, words: string])[] = [
    [undefined, 'createGateway expected the parts of an environment, such as those of memory()'],
    [{}, 'upstreams is missing; spread an environment first, such as { ...memory(), upstreams: [] }'],
    [{ ...memory(), upstreams: [vllm] }, 'upstreams.0 is a bare plugin; write use(vllm, settings) instead'],
    [{ ...memory(), log: undefined }, 'log is undefined; leave it out, or give it what use() makes'],
    [{ ...memory(), clock: 7 }, 'clock expected what use() makes of a plugin'],
    [
      { ...memory(), upstreams: [use(vllm), use(vllm)] },
      'upstreams.1: vllm is the name of two; use(plugin, settings, name) gives another',
    ],
    [
      { ...memory(), tools: [use(ownTool, {}, './own.js'), use(ownTool)] },
      'tools.1: own is the name of two; leave one of them out',
    ],
  ]
  for (const [parts, words] of cases)
    t.equal(
      refusalOf(() => bare(parts)),
      words,
    )
  t.end()
})

const tool = { name: 'own', description: 'Does', kind: 'simple', params: v.object({}), run: async () => 1 }
const guard = { name: 'own', marks: [], begin: () => ({}) }
const without = (whole: object, member: string) =>
  Object.fromEntries(Object.entries(whole).filter(([name]) => name !== member))

t.test('a part is looked at when it is made', (t) => {
  const made = (port: unknown, part: unknown) =>
    refusalOf(() => use({ port, name: 'own', create: () => part } as AnyPlugin).make(() => ({}) as never))
  t.equal(made(Tool, tool), 'nothing')
  t.equal(made(Guard, guard), 'nothing')
  for (const member of Object.keys(tool))
    t.match(made(Tool, without(tool, member)), `own: ${member} of its Tool is missing; expected `)
  for (const member of Object.keys(guard))
    t.match(made(Guard, without(guard, member)), `own: ${member} of its Guard is missing; expected `)
  t.equal(
    made(Tool, { ...tool, kind: 'other' }),
    'own: kind of its Tool is wrong; expected one of simple, makes-file, reads-file, retrieval',
  )
  t.equal(made(Tool, { ...tool, params: {} }), 'own: params of its Tool is wrong; expected a schema of valibot')
  t.equal(made(Tool, null), 'own: create gives no Tool; expected an object')
  t.equal(made(Tool, Promise.resolve(tool)), 'own: create gives a promise; expected the Tool itself')
  t.end()
})

t.test('the parts that serve each request are looked at too, and none is a promise', (t) => {
  const ports: readonly (readonly [port: { readonly name: string }, member: string])[] = [
    [ChatFilter, 'begin'],
    [Credentials, 'takes'],
    [Ledger, 'open'],
    [Log, 'info'],
    [RateLimiter, 'take'],
  ]
  const made = (port: unknown, part: unknown) =>
    refusalOf(() => use({ port, name: 'own', create: () => part } as AnyPlugin).make(() => ({}) as never))
  for (const [port, member] of ports)
    t.equal(made(port, {}), `own: ${member} of its ${port.name} is missing; expected a function`)
  t.equal(made(Observer, Promise.resolve({})), 'own: create gives a promise; expected the Observer itself')
  t.equal(made(Observer, {}), 'nothing', 'each hook of an observer may be absent')
  t.end()
})

t.test('types guide to the settings and to the members of a part', (t) => {
  // @ts-expect-error The setting is called apiKey.
  t.throws(() => use(openai, { apikey: 'x' }), /apikey is not a known setting/)
  // @ts-expect-error No such setting.
  t.throws(() => use(openai, { apiKey: 'x', nonsense: 7 }), /nonsense is not a known setting/)
  const described = { name: 'own', description: 'Does', kind: 'simple' as const, params: v.object({}) }
  // @ts-expect-error A tool runs.
  plugin({ port: Tool, name: 'own', create: () => described })
  plugin({ port: Tool, name: 'own', create: () => ({ ...described, run: async () => 1 }) })
  t.end()
})
