import '../fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { connect } from '../../plugins/sealed/client/client.ts'
import { opened } from '../fakes/doors.ts'
import type { Recorded } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'
import { sealedDoors } from '../fakes/sealed-doors.ts'
import type { SettingsInput } from '../../core/settings.ts'
import type { Running } from '../environments.ts'

const answer = scripted(() => [{ say: 'Here.' }])
const messages = [{ role: 'user' as const, content: 'Hi' }]

/** Keys of two organisations, and the last body that the backend was asked with. */
const scene = async (gateway: Running & { readonly backend: Recorded }) => ({
  mine: gateway.key,
  yours: (await gateway.gateway.keys.create({ organization: 'other' })).credential,
  asked: () => JSON.parse(gateway.backend.asked.at(-1)!.body.toString()) as Record<string, unknown>,
})

const inTheClear = async (t: Test, routing: SettingsInput['routing'] = {}) => {
  const doors = await opened(t, answer, {}, { routing })
  const { mine, yours, asked } = await scene(doors)
  const ask = async (key: string, path: string, body: object) => {
    const response = await doors.call('POST', path, { model: 'chat', ...body }, { authorization: `Bearer ${key}` })
    t.equal(response.status, 200, path)
    return { response: (await response.json()) as any, asked: asked() }
  }
  return { mine, yours, ask }
}

t.test('the part of a prompt cache is an organisation’s own', async (t) => {
  const { mine, yours, ask } = await inTheClear(t)
  for (const path of ['/std/chat/completions', '/v1/chat/completions', '/v1/responses']) {
    const named = (name: string) => ({
      ...(path === '/v1/responses' ? { input: 'Hi' } : { messages, cache_salt: name }),
      prompt_cache_key: name,
    })
    const first = await ask(mine, path, named('notes'))
    const { prompt_cache_key: part, cache_salt: salt } = first.asked
    t.match(part, /^[0-9a-f]{32}$/)
    if (path !== '/v1/responses') t.equal(salt, part, 'the salt of vLLM too')
    else t.equal(first.response.prompt_cache_key, 'notes', 'the caller sees its own name')
    t.equal(
      (await ask(mine, path, named('notes'))).asked['prompt_cache_key'],
      part,
      'the same for the same organisation',
    )
    t.not((await ask(mine, path, named('others'))).asked['prompt_cache_key'], part)
    t.not((await ask(yours, path, named('notes'))).asked['prompt_cache_key'], part, 'another for another one')
    const guessed = (await ask(yours, path, named(part as string))).asked['prompt_cache_key']
    t.not(guessed, part, 'a name that is known is of no use elsewhere')
  }
  const plain = await ask(mine, '/v1/chat/completions', { messages })
  t.notOk(
    'prompt_cache_key' in plain.asked || 'cache_salt' in plain.asked,
    'nothing is named that the caller did not name',
  )
})

t.test('an operator may let all share', async (t) => {
  const { mine, yours, ask } = await inTheClear(t, { promptCaches: 'shared' })
  for (const key of [mine, yours]) {
    const { asked } = await ask(key, '/v1/chat/completions', { messages, prompt_cache_key: 'notes' })
    t.equal(asked['prompt_cache_key'], 'notes')
  }
})

t.test('the same holds inside the enclave', async (t) => {
  const doors = await sealedDoors(t, answer, { sealed: 'chat' })
  const { mine, yours, asked } = await scene(doors)
  const ask = async (apiKey: string) => {
    const { chat } = connect({ baseUrl: doors.base, apiKey, policy: { allowInsecureDev: true } })
    await chat.completions.create({ model: 'sealed', messages, prompt_cache_key: 'notes' })
    return asked()['prompt_cache_key']
  }
  const part = await ask(mine)
  t.match(part, /^[0-9a-f]{32}$/)
  t.equal(await ask(mine), part)
  t.not(await ask(yours), part)
})
