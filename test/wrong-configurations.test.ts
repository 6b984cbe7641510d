import './fakes/unwatched.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bootGateway } from '../adapters/production/commands/boot-gateway.ts'
import { everyFault } from '../adapters/production/config/every-fault.ts'
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
/** The name of the file is a matter of where it lies. */
const plain = (text: string) =>
  text
    .replaceAll(`${file}:`, '')
    .replaceAll('sealgate.json:', '')
    .replaceAll(at, '')
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
