import '../../fakes/unwatched.ts'
import { join } from 'node:path'
import t from 'tap'
import { opened } from '../../fakes/doors.ts'
import type { Asked, Take } from '../../fakes/recorded.ts'
import { scripted, type Script } from '../../fakes/scripted.ts'
import { ended, pythonWith, unwanted } from './python.ts'
import { keep, verdictsOf } from './verdicts.ts'

/** Thinks and speaks; calls a tool where one is offered. */
const script: Script = (turn, [tool]) => [
  { think: 'The question is simple.' },
  tool !== undefined && turn === 0
    ? { call: tool, args: { location: 'San Francisco' } }
    : { say: 'Ahoy, a short answer.' },
]

/** Members that are null in answers of the vendors' own servers, and which the gateway relays as they come. */
const whole = (request: Asked): Take => {
  const take = scripted(script)(request)
  if (typeof take.body !== 'string' || !take.body.startsWith('{')) return take
  const answer = JSON.parse(take.body) as Record<string, any>
  for (const choice of answer['choices'] ?? []) {
    choice.logprobs = null
    choice.message.refusal = null
  }
  if (answer['type'] === 'message') {
    Object.assign(answer, { container: null, stop_details: null })
    const none = { cache_creation: null, inference_geo: null, output_tokens_details: null }
    Object.assign(answer['usage'], { ...none, server_tool_use: null, service_tier: 'standard' })
    for (const block of answer['content']) {
      if (block.type === 'text') block.citations = null
      if (block.type === 'tool_use') block.caller = { type: 'direct' }
    }
  }
  return { ...take, body: JSON.stringify(answer) }
}

/** The path of a format's base, a name that the suite takes for a model that thinks, and the backend. */
const formats = {
  'openai-chat': ['/v1', 'gpt-5-own', 'chat'],
  'open-responses': ['/v1', 'gpt-5-own', 'chat'],
  anthropic: ['/v1', 'claude-sonnet-4-own', 'messages'],
  'google-genai': ['', 'gemini-3-own', 'gemini'],
} as const

interface Report {
  readonly results: readonly { readonly id: string; readonly status: string; readonly errors?: readonly string[] }[]
}

/** Errors that say nothing about a client, by what the suite's description of an interface asks for. */
const harmless: Readonly<Record<string, RegExp>> = {
  'ask for a member that is null': /is a required property$/,
  'do not know an event of OpenAI by its name': /^unknown SSE event type: response\.reasoning_summary_text\./,
  'ask for citations that are null': /^content\.\d+: .* is not valid under any of the given schemas$/,
}

t.setTimeout(900_000)

t.test('llm-comply over its four formats', { skip: unwanted, timeout: 900_000 }, async (t) => {
  const bin = await pythonWith('llm-comply==0.5.0')
  for (const [format, [path, model, backend]] of Object.entries(formats)) {
    const verdicts = verdictsOf(`llm-comply, ${format}`)
    const gateway = await opened(t, whole, { [model]: backend })
    const args = ['run', '--format', format, '-u', gateway.base + path, '-k', gateway.key, '-m', model, '--json']
    const { out, err } = await ended(join(bin, 'llm-comply'), args)
    await keep(`llm-comply-${format}.json`, out + err)
    for (const { id, status, errors = [] } of (JSON.parse(out) as Report).results) {
      const reasons = errors.map((error) => Object.keys(harmless).find((reason) => harmless[reason]!.test(error)))
      if (status === 'passed') verdicts.passed(id)
      else if (reasons[0] !== undefined && !reasons.includes(undefined)) verdicts.absent(id, reasons[0])
      else verdicts.failed(id, `${status}: ${errors.join('; ')}`)
    }
    await verdicts.told(t)
  }
})
