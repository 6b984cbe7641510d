import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { placeIn, unsetVariablesIn, variable, withVariables } from '../../../../adapters/production/config/variables.ts'

const written = { providers: { a: { use: 'x', apiKey: '$KEY', pem: '$PEM' } } }
const env = { KEY: 'sk-1\r\n\n', PEM: '\nBEGIN\nEND\n' }

t.test('a variable counts without its last line breaks, as the shell reads a file', async (t) => {
  t.same(withVariables(written, env), { providers: { a: { use: 'x', apiKey: 'sk-1', pem: '\nBEGIN\nEND' } } })
  t.same(unsetVariablesIn(written, env), [])
})

t.test('a variable of line breaks alone is not set', async (t) => {
  const empty = { ...env, KEY: '\n' }
  t.match(unsetVariablesIn(written, empty), [{ path: ['providers', 'a', 'apiKey'], name: 'KEY' }])
  t.throws(() => withVariables(written, empty), { message: 'providers.a.apiKey: $KEY is not set' })
})

t.test('many line breaks within a variable take no time', async (t) => {
  const long = `${'\n'.repeat(200_000)}x`
  const begun = performance.now()
  t.equal(variable({ long }, 'long'), long)
  t.ok(performance.now() - begun < 1_000)
})

t.test('a place is named without its last line breaks', async (t) => {
  const place = join(t.testdir(), 'data')
  t.equal(placeIn({ SEALGATE_DATA: `${place}\r` }, 'SEALGATE_DATA'), place)
  t.equal(placeIn({}, 'SEALGATE_DATA'), '')
})

t.test('a folder of data whose own name ends in a line break stays in use', async (t) => {
  const place = join(t.testdir(), 'data\r')
  mkdirSync(place)
  t.equal(placeIn({ SEALGATE_DATA: place }, 'SEALGATE_DATA'), place)
})
