import './fakes/unwatched.ts'
import Anthropic from '@anthropic-ai/sdk'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { use } from '../core/plugin.ts'
import words from '../plugins/guards/words.ts'
import redact from '../plugins/guards/redact.ts'
import { sealing } from './fakes/proxied.ts'
import { served } from './fakes/served.ts'
import { type Play, type Wishes, chunk, echo, sealedStage } from './fakes/sealing.ts'

const asked = 'Write to ann@example.org from 10.0.0.1, key sk-abcdefghijklmnop1234.'
const hidden = 'Write to [EMAIL_1] from [IP_1], key [KEY_1].'
const hello = [{ role: 'user' as const, content: asked }]

/** Says the last message again, each character a chunk of its own. */
const spelling: Play = (call, signal) => {
  if (!call.stream) return echo(call, signal)
  async function* chunks() {
    for (const content of String(call.body.messages.at(-1)!.content)) yield chunk({ content })
    yield chunk({}, 'stop')
  }
  return { kind: 'chunks', chunks: chunks() }
}

const stage = async (t: Test, args: readonly string[], wishes: Wishes = {}) => {
  const stage = await sealedStage(t, { play: spelling, ...wishes })
  const proxy = await sealing(t, ['--base-url', stage.base, '--allow-insecure-dev', ...args], {
    SEALGATE_KEY: stage.apiKey,
  })
  return { sealed: stage, proxy, base: proxy.url.replace(/\/v1$/, '') }
}

t.test('sealgate seal --redact hides values from the enclave, and puts them back', async (t) => {
  const { sealed: sealing, proxy, base } = await stage(t, ['--redact'])
  const { openai } = proxy
  const params = { model: 'quiet', messages: hello }
  const { data, response } = await openai.chat.completions.create(params).withResponse()
  t.equal(data.choices[0]!.message.content, asked)
  t.equal(response.headers.get('x-sealgate-guards'), 'redact/email, redact/ip, redact/key')
  let text = ''
  for await (const { choices } of await openai.chat.completions.create({ ...params, stream: true }))
    text += choices[0]?.delta.content ?? ''
  t.equal(text, asked, 'each placeholder was cut at each of its characters')

  t.equal((await openai.responses.create({ model: 'quiet', input: asked })).output_text, asked)
  t.equal((await openai.responses.stream({ model: 'quiet', input: asked }).finalResponse()).output_text, asked)
  const anthropic = new Anthropic({ baseURL: base, apiKey: 'x', maxRetries: 0 })
  const message = { model: 'quiet', max_tokens: 100, messages: hello }
  t.match((await anthropic.messages.create(message)).content, [{ text: asked }])
  t.match((await anthropic.messages.stream(message).finalMessage()).content, [{ text: asked }])
  const contents = { contents: [{ role: 'user', parts: [{ text: asked }] }] }
  for (const verb of ['generateContent', 'streamGenerateContent', 'streamGenerateContent?alt=sse']) {
    const path = `${base}/v1beta/models/quiet:${verb}`
    const heard = await (await fetch(path, { method: 'POST', body: JSON.stringify(contents) })).text()
    const texts = [...heard.matchAll(/"text":\s*"([^"]*)"/g)].map(([, text]) => text)
    t.equal(texts.join(''), asked, verb)
  }

  t.equal(sealing.calls.length, 9)
  for (const { body } of sealing.calls) t.equal(body.messages.at(-1)!.content, hidden)

  const again = [...hello, { role: 'assistant' as const, content: asked }, ...hello]
  t.equal(
    (await openai.chat.completions.create({ model: 'quiet', messages: again })).choices[0]!.message.content,
    asked,
  )
  t.same(
    sealing.calls.at(-1)!.body.messages.map(({ content }) => content),
    [hidden, hidden, hidden],
  )
})

t.test('sealgate seal --guards takes the guards of a file', async (t) => {
  const file = join(t.testdir(), 'guards.json')
  await writeFile(file, '{ "words": { "lists": { "projects": { "words": ["blue heron"] } } } } // ours')
  const { sealed: sealing, proxy } = await stage(t, ['--guards', file])
  const refused = await proxy.openai.chat.completions
    .create({ model: 'quiet', messages: [{ role: 'user', content: 'The Blue Heron?' }] })
    .catch((error) => error)
  t.match(refused, { status: 400, code: 'guard_refused' })
  t.equal(sealing.calls.length, 0, 'nothing left this machine')
  await t.rejects(stage(t, ['--guards', join(t.testdir(), 'none.json')]), /--guards .*none\.json/)
})

t.test('guards of the enclave see sealed chats, and their marks stay sealed', async (t) => {
  const guards = [
    use(redact, { restore: true }),
    use(words, { lists: { cities: { words: ['Lima'], where: 'answers' } } }),
  ]
  const { sealed: sealing, proxy } = await stage(t, [], { guards })
  const ask = (content: string) =>
    proxy.openai.chat.completions.create({ model: 'quiet', messages: [{ role: 'user', content }] })
  const { data, response } = await ask(asked).withResponse()
  t.equal(data.choices[0]!.message.content, asked)
  t.same((data as any).guards, ['redact/email', 'redact/ip', 'redact/key'])
  t.equal(response.headers.get('x-sealgate-guards'), null)
  t.equal(sealing.calls[0]!.body.messages[0]!.content, hidden)
  const stream = await sealing.client.chat.completions.create({ model: 'quiet', messages: hello, stream: true })
  let text = ''
  let marks: unknown = null
  for await (const piece of stream) {
    text += piece.choices[0]?.delta.content ?? ''
    marks ??= piece['guards']
  }
  t.equal(text, asked)
  t.same(marks, ['redact/email', 'redact/ip', 'redact/key'])

  t.match(await ask('To Lima').catch((error) => error), { status: 400, code: 'guard_refused' })
  await t.rejects(
    async () => {
      const params = { model: 'quiet', messages: [{ role: 'user', content: 'To Lima' }], stream: true } as const
      for await (const _ of await sealing.client.chat.completions.create(params));
    },
    { code: 'guard_refused' },
  )
})

t.test('a configuration names the guards of both planes', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'sealgate.json')
  const listed = (word: string) => ({ words: { lists: { projects: { words: [word] } } } })
  const env = { SEALGATE_CONFIG: file, SEALGATE_DATA: join(folder, 'data') }
  const write = (open: string, more: object) =>
    writeFile(
      file,
      JSON.stringify({
        providers: { rehearsal: { use: 'rehearsal' } },
        guards: listed(open),
        enclave: { guards: listed('sealed heron') },
        ...more,
      }),
    )
  await write('open heron', { guards: { wrods: {} } })
  await t.rejects(served(env), /there is no wrods in guards/)
  await write('open heron', { enclave: { guards: { words: { lists: {} }, redact: { kinds: [] } } } })
  await t.rejects(served(env), /enclave\.guards\.redact\.kinds expected/)
  await write('open heron', {})
  const server = await served(env)
  t.teardown(() => server.stop('SIGKILL'))
  const proxy = await sealing(t, ['--base-url', server.base, '--allow-insecure-dev'], { SEALGATE_KEY: server.key })
  const open = new OpenAI({ baseURL: `${server.base}/v1`, apiKey: server.key, maxRetries: 0 })
  const ask = (client: OpenAI, content: string) =>
    client.chat.completions.create({ model: 'rehearsal', messages: [{ role: 'user', content }] }).then(
      () => 200,
      ({ status, code }) => `${status} ${code}`,
    )
  t.equal(await ask(open, 'open heron'), '400 guard_refused')
  t.equal(await ask(open, 'sealed heron'), 200)
  t.equal(await ask(proxy.openai, 'open heron'), 200)
  t.equal(await ask(proxy.openai, 'sealed heron'), '400 guard_refused')
  await write('other heron', {})
  const reload = await fetch(`${server.base}/admin/reload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}` },
  })
  t.equal(reload.status, 200)
  t.equal(await ask(open, 'open heron'), 200, 'a reload takes other guards')
  t.equal(await ask(open, 'other heron'), '400 guard_refused')
})
