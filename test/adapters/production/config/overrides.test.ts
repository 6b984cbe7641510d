import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { allFaults } from '../../../../adapters/production/config/file-faults.ts'
import { configuration, faultLines, namedFile } from '../../../../adapters/production/config/read-config.ts'

const withServer = async (t: Test, server: object) => {
  const file = join(t.testdir(), 'sealgate.json')
  await writeFile(file, JSON.stringify({ enclave: null, server, log: { level: 'silent' } }, null, 1))
  return { SEALGATE_CONFIG: file }
}

const refusal = (env: NodeJS.ProcessEnv): Promise<string> =>
  configuration(env).then(
    () => 'no faults',
    ({ message }: Error) => message,
  )

t.test('a wrong variable is named itself, and no line of a right file', async (t) => {
  const env = await withServer(t, { port: 8787, host: '127.0.0.1' })
  for (const [name, path] of Object.entries({ PORT: 'server.port', SEALGATE_LOG: 'log.level' })) {
    const text = await refusal({ ...env, [name]: 'Canary7319' })
    t.match(text, new RegExp(`^environment: ${name} \\(${path}\\) expected .*\n1 fault$`))
    t.notMatch(text, /Canary7319|sealgate\.json/)
  }
  t.match(await refusal({ ...env, PORT: '70000' }), /^environment: PORT \(server\.port\) expected /)
})

t.test('a wrong line is named where no variable stands in its place', async (t) => {
  const env = await withServer(t, { port: 'many' })
  t.match(await refusal(env), /sealgate\.json:\d+:\d+ server\.port expected /)
  t.equal(await refusal({ ...env, PORT: '1', HOST: '::1' }), 'no faults')
  const { SEALGATE_CONFIG: file } = env
  const parsed = await namedFile(file)
  const faults = await allFaults(parsed.value, { PORT: '1' })
  t.match(faultLines(file, faults, parsed), /sealgate\.json:\d+:\d+ server\.port expected /, 'in a file by itself, too')
})

t.test('a section that is no object is refused by its name, with a variable for it, too', async (t) => {
  const file = join(t.testdir(), 'sealgate.json')
  for (const [section, value] of [
    ['server', 8080],
    ['server', null],
    ['log', 'debug'],
    ['log', true],
  ] as const) {
    await writeFile(file, JSON.stringify({ enclave: null, [section]: value }))
    for (const given of [{}, { PORT: '1', SEALGATE_LOG: 'silent' }])
      t.match(
        await refusal({ SEALGATE_CONFIG: file, ...given }),
        new RegExp(`sealgate\\.json:1:\\d+ ${section} expected an object\n1 fault$`),
      )
  }
})

t.test('a blank port is no port of the choice of the system', async (t) => {
  t.match(await refusal({ PORT: ' ' }), /^environment: PORT \(server\.port\) expected a number\n/)
})

t.test('line ends of a file of variables are no part of a variable', async (t) => {
  const read = await configuration({ HOST: '127.0.0.1\r', PORT: '8080\r\n', SEALGATE_LOG: 'silent\r' })
  t.match(read.config, { server: { host: '127.0.0.1', port: 8080 }, log: { level: 'silent' } })
  t.match(await refusal({ SEALGATE_LOG: 'loud\r' }), /^environment: SEALGATE_LOG \(log\.level\) expected /)
})
