import './fakes/unwatched.ts'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import t from 'tap'
import { type Mark, nothingStays, newCanary } from './fakes/canary.ts'
import { dumped } from './fakes/dumped.ts'
import { overflow } from './fakes/overflows.ts'
import { sealing } from './fakes/proxied.ts'
import type { Asked, Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { backend } from './contracts/stage.ts'

/** A model that thinks, calls a tool twice and answers, with a mark in all that it says. */
const model = (mark: Mark, control: string) => {
  const plays = scripted((turn) =>
    turn < 2
      ? [{ think: mark('thought') }, { say: mark('said') }, { call: mark('tool'), args: { path: mark('argument') } }]
      : [{ say: mark('answer') }],
  )
  return (request: Asked): Take => {
    const told = request.body.toString()
    if (told.includes(control)) return { body: '', pace: 'silent' }
    if (told.includes('wish-overflow')) return overflow(request)
    if (told.includes('wish-break')) return { ...plays(request), pace: { cut: 420 } }
    if (told.includes('wish-quote')) return { status: 400, body: JSON.stringify({ error: { message: told } }) }
    return plays(request)
  }
}

const wishes = ['overflow', 'break', 'quote'] as const

const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined)

/** As Claude Code: streams, tools over three turns, and what a backend refuses. */
const asClaude = async (base: string, mark: Mark): Promise<string> => {
  const client = new Anthropic({ baseURL: base, apiKey: 'x', maxRetries: 0 })
  const tools = [{ name: mark('tool'), description: mark('description'), input_schema: { type: 'object' as const } }]
  const system = [{ type: 'text' as const, text: mark('system'), cache_control: { type: 'ephemeral' as const } }]
  const asked = { model: 'quiet', max_tokens: 4096, system, tools, metadata: { user_id: mark('user') } }
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: mark('prompt') }]
  for (const wish of wishes) {
    const content = `${mark('refused')} wish-${wish}`
    await quietly(client.messages.stream({ ...asked, messages: [{ role: 'user', content }] }).finalMessage())
    await quietly(client.messages.create({ ...asked, messages: [{ role: 'user', content }] }))
  }
  await quietly(client.messages.create({ ...asked, model: mark('model'), messages }))
  await client.messages.countTokens({ model: 'quiet', messages })
  for (;;) {
    const answer = await client.messages.stream({ ...asked, messages }).finalMessage()
    const calls = answer.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) return JSON.stringify(answer.content)
    const content = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: mark('result') }))
    messages.push({ role: 'assistant', content: answer.content }, { role: 'user', content })
  }
}

/** As Codex: the same by Responses, with the reasoning sealed between the turns. */
const asCodex = async (base: string, mark: Mark): Promise<string> => {
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'x', maxRetries: 0 })
  const tools = [{ type: 'function' as const, name: mark('tool'), parameters: {}, strict: false }]
  const asked = { model: 'quiet', instructions: mark('system'), tools, store: false, prompt_cache_key: mark('cache') }
  const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content']
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: mark('prompt') }]
  for (const wish of wishes) {
    const refused = `${mark('refused')} wish-${wish}`
    await quietly(client.responses.stream({ ...asked, input: refused }).finalResponse())
    await quietly(client.responses.create({ ...asked, input: refused }))
  }
  for (;;) {
    const { output, output_text } = await client.responses.stream({ ...asked, include, input }).finalResponse()
    const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
    if (calls.length === 0) return output_text
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]))
    for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: mark('result') })
  }
}

const linux = process.platform !== 'linux' && 'Linux alone shows the memory of a process'

t.test('nothing of a sealed session is in the gateway’s logs, stores or memory', { skip: linux }, async (t) => {
  t.setTimeout(170_000)
  const folder = t.testdir({ data: {} })
  const { root, control, mark } = newCanary()
  const asked = await backend(t, model(mark, control))
  const upstreams = [{ provider: 'backend', model: 'm' }]
  const gateway = await dumped(t, folder, {
    providers: { backend: { use: 'openai', baseUrl: `${asked.url}/v1` } },
    models: { quiet: { standard: false, confidential: true, upstreams }, plain: { upstreams } },
    routing: { retries: 0, breaker: { faults: 1_000, ratio: 1 } },
  })
  const proxy = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], { SEALGATE_KEY: gateway.key })
  const base = proxy.url.replace(/\/v1$/, '')

  t.match(await asClaude(base, mark), mark('answer'), 'Messages: the session goes to its end')
  t.match(await asCodex(base, mark), mark('answer'), 'Responses: so does the other')
  const told = asked.asked.map(({ body }) => body.toString())
  for (const place of ['system', 'prompt', 'thought', 'argument', 'result', 'refused'])
    t.ok(
      told.some((body) => body.includes(mark(place))),
      `the backend is told the ${place}`,
    )

  await nothingStays(t, [gateway, folder], asked, { root, control })
})
