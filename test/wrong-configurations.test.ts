import './fakes/unwatched.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { bootGateway } from '../adapters/production/commands/boot-gateway.ts'
import { everyFault } from '../adapters/production/config/every-fault.ts'
import { shapeFaultsOf } from '../adapters/production/config/faults.ts'
import { faultLines, namedFile } from '../adapters/production/config/read-config.ts'
import { operator } from '../core/access/audit.ts'
import { soundConfiguration, wrongConfigurations } from './wrong/configurations.ts'
import { wrongPlugins } from './wrong/plugins.ts'
import { folderOf } from './helpers.ts'

const at = await folderOf(t)
const file = join(at, 'sealgate.json')
const env = {
  SEALGATE_CONFIG: file,
  SEALGATE_DATA: join(at, 'data'),
  HOUSE_NAME: 'house',
}

const write = (configuration: object) => writeFile(file, JSON.stringify(configuration, null, 1))
/** Names of files depend on where they lie. */
const plain = (text: string) =>
  text
    .replaceAll(`${file}:`, '')
    .replaceAll('sealgate.json:', '')
    .replaceAll(at, '')
    .replaceAll(process.cwd(), '')
    .replace(/\n1 fault$/, '')

const checked = async (): Promise<string> => {
  const parsed = await namedFile(file)
  const faults = await everyFault(parsed.value, env)
  return faults.length === 0 ? 'no faults' : faultLines(file, faults, parsed)
}

const started = async (): Promise<string> => {
  try {
    const { gateway } = await bootGateway(env)
    await gateway.close()
    return 'no faults'
  } catch (error) {
    return (error as Error).message
  }
}

t.setTimeout(600_000)
await write(soundConfiguration)
const running = await bootGateway(env)
t.teardown(() => running.gateway.close())

const reloaded = (): Promise<string> =>
  running.gateway.reload(operator('signal')).then(
    () => 'no faults',
    ({ validator }: { validator?: { configuration?: string } }) => validator?.configuration ?? 'no words',
  )

const expectSame = async (t: Test, name: string, configuration: object, sentence: string) => {
  await write(configuration)
  const told = { check: await checked(), start: await started(), reload: await reloaded() }
  for (const [way, words] of Object.entries(told)) {
    t.equal(plain(words), sentence, `${way}: ${name}`)
    if (sentence !== 'no faults')
      t.match(words, /sealgate\.json:\d+:\d+ /, `${way} names file, line and column: ${name}`)
  }
}

t.test('a sound configuration has no fault', async (t) => expectSame(t, 'sound', soundConfiguration, 'no faults'))

t.test('check, start and reload refuse a wrong configuration with the same sentence', async (t) => {
  t.ok(wrongConfigurations.length >= 60)
  for (const [configuration, sentence] of wrongConfigurations)
    await expectSame(t, JSON.stringify(configuration).slice(0, 120), configuration, sentence)
})

t.test('check, start and reload refuse a wrong plugin with the same sentence', async (t) => {
  t.ok(wrongPlugins.length >= 20)
  for (const { name, text, place, sentence } of wrongPlugins) {
    const path = join(at, `${name}.mjs`)
    await writeFile(path, text)
    await expectSame(t, name, place(path), sentence)
  }
})

t.test('a tool that TypeScript compiled to CommonJS is taken', async (t) => {
  const [plugin, tool, valibot] = ['../core/plugin.ts', '../core/ports/tool.ts', 'valibot'].map((name) =>
    JSON.stringify(fileURLToPath(import.meta.resolve(name.replace('.ts', import.meta.url.slice(-3))))),
  )
  const part = `{ name: 'own', description: 'D', kind: 'simple', params: require(${valibot}).object({}), async run() {} }`
  const compiled = `Object.defineProperty(exports, '__esModule', { value: true })
exports.default = require(${plugin}).plugin({ port: require(${tool}).Tool, name: 'own', create: () => (${part}) })`
  const path = join(at, 'compiled.cjs')
  await writeFile(path, compiled)
  await expectSame(t, 'compiled', { ...soundConfiguration, tools: { [path]: {} } }, 'no faults')
})

const many = (count: number, named: (at: number) => readonly [string, unknown]): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => named(at)))

t.test('thousands of unknown settings are found in as few checks as one', async (t) => {
  let checks = 0
  const counted = v.pipe(
    v.number(),
    v.check(() => ++checks > 0),
  )
  const shape = v.strictObject({ own: counted, lists: v.record(v.string(), v.strictObject({ own: counted })) })
  const lists = many(1_000, (at) => [`list${at}`, { own: 1, strange: 1 }])
  const faults = shapeFaultsOf(shape, { own: 1, lists, ...many(5_000, (at) => [`strange${at}`, at]) })
  t.equal(checks, 2 * 1_001, 'with the unknown keys, and without them')
  t.equal(faults.length, 100, 'the first of them are told')
  t.equal(faults[0]?.words, 'lists.list0.strange is not a known setting')
  const few = shapeFaultsOf(shape, { own: 'wrong', lists: {}, one: 1, two: 2 })
  t.same(
    few.map(({ words }) => words),
    ['one is not a known setting', 'two is not a known setting', 'own expected a number'],
    'and what is wrong beside them',
  )
})

t.test('the first of many unknown names have a hint', async (t) => {
  const upstreams = Array.from({ length: 100 }, () => ({ provider: 'hous' }))
  const faults = await everyFault({ ...soundConfiguration, models: { small: { upstreams } } }, env)
  const hinted = faults.filter(({ words }) => words.endsWith('is not a provider; did you mean house?'))
  t.same([faults.length, hinted.length], [100, 10])
})
