// A gateway in a test: no port, no network, no disk; the backend rehearses its answers.
import { equal, match } from 'node:assert/strict'
import { createGateway } from 'sealgate'
import { memory } from 'sealgate/memory'

const gateway = createGateway(memory())
const { credential } = await gateway.keys.create({ name: 'test' })

/** Give this to the code under test in place of the global one: `new OpenAI({ fetch: local, … })`. */
const local: typeof fetch = (input, init) => gateway.fetch(new Request(input, init))

const answer = await local('http://gateway.test/v1/chat/completions', {
  method: 'POST',
  headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'rehearsal', messages: [{ role: 'user', content: 'Hello' }] }),
})
equal(answer.status, 200)
match(await answer.text(), /chat\.completion/)
console.log('the code under test has spoken to a gateway')
await gateway.close()
