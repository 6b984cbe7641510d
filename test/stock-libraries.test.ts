import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { use } from '../core/plugin.ts'
import useLite from '../plugins/providers/use-lite.ts'
import { running } from './environments.ts'
import { backends, opened, type Backend, type Doors } from './fakes/doors.ts'
import { installed } from './fakes/npm-program.ts'
import { scripted } from './fakes/scripted.ts'
import { told, weatherSchema, weatherScript } from './fakes/weather.ts'

/** Packages that this one does not depend on; they are installed only where somebody asks for them. */
const skip = process.env['SEALGATE_PROGRAMS'] !== '1' && 'SEALGATE_PROGRAMS=1 installs and runs them'
const packages = [
  ...['openai@7', 'ai@7', '@ai-sdk/openai@4', '@ai-sdk/anthropic@4', '@ai-sdk/google@4', '@openai/agents@0'],
  ...['@langchain/openai@1', '@langchain/core@1', 'zod@4'],
]

t.setTimeout(600_000)

type Load = (name: string) => Promise<any>

/** A library that goes through all turns; gives back what it was told at last. */
type Library = (load: Load, doors: Doors, model: Backend, stream: boolean) => Promise<string>

const description = 'Tells the weather.'
const parameters = { ...weatherSchema, required: ['city'], additionalProperties: false }

const openai7: Library = async (load, { base, key }, model, stream) => {
  const { default: OpenAI } = await load('openai')
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 })
  const input: any[] = [{ role: 'user', content: 'Weather?' }]
  const tools = [{ type: 'function', name: 'weather', description, parameters, strict: true }]
  for (;;) {
    const asked = { model, input, tools }
    const response = stream
      ? await client.responses.stream(asked).finalResponse()
      : await client.responses.create(asked)
    const calls = response.output.filter(({ type }: { type: string }) => type === 'function_call')
    if (calls.length === 0) return response.output_text
    input.push(...response.output)
    for (const { call_id, arguments: json } of calls)
      input.push({ type: 'function_call_output', call_id, output: told(JSON.parse(json).city) })
  }
}

/** The AI SDK before a model of one of its providers. */
const aiSdk =
  (provider: (load: Load, doors: Doors) => Promise<(model: string) => unknown>): Library =>
  async (load, doors, model, stream) => {
    const { generateText, streamText, tool, jsonSchema, isStepCount } = await load('ai')
    const weather = tool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: async ({ city }: { city: string }) => told(city),
    })
    const asked = {
      model: (await provider(load, doors))(model),
      prompt: 'Weather?',
      tools: { weather },
      stopWhen: isStepCount(5),
      maxRetries: 0,
    }
    if (!stream) return (await generateText(asked)).text
    let fault: unknown = null
    const result = streamText({ ...asked, onError: ({ error }: { error: unknown }) => void (fault = error) })
    await result.consumeStream()
    if (fault !== null) throw fault
    return result.text
  }

const agents: Library = async (load, { base, key }, model, stream) => {
  const { Agent, Runner, OpenAIProvider, tool } = await load('@openai/agents')
  const { z } = await load('zod')
  const weather = tool({
    name: 'weather',
    description,
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }: { city: string }) => told(city),
  })
  const modelProvider = new OpenAIProvider({ baseURL: `${base}/v1`, apiKey: key, useResponses: true })
  const runner = new Runner({ modelProvider, tracingDisabled: true })
  const result = await runner.run(new Agent({ name: 'forecaster', model, tools: [weather] }), 'Weather?', { stream })
  if (stream) {
    for await (const _ of result);
    await result.completed
  }
  return result.finalOutput
}

const langchain: Library = async (load, { base, key }, model, stream) => {
  const { ChatOpenAI } = await load('@langchain/openai')
  const { HumanMessage, ToolMessage } = await load('@langchain/core/messages')
  const configuration = { baseURL: `${base}/v1` }
  const chat = new ChatOpenAI({ model, apiKey: key, useResponsesApi: true, configuration, maxRetries: 0 })
  const bound = chat.bindTools([{ type: 'function', function: { name: 'weather', description, parameters } }])
  const messages: any[] = [new HumanMessage('Weather?')]
  for (;;) {
    const answer = stream ? await joined(await bound.stream(messages)) : await bound.invoke(messages)
    if (answer.tool_calls.length === 0) return answer.text
    messages.push(answer)
    for (const { id, args } of answer.tool_calls)
      messages.push(new ToolMessage({ tool_call_id: id, content: told(args.city) }))
  }
}

const joined = async (chunks: AsyncIterable<any>): Promise<any> => {
  let whole: any = null
  for await (const chunk of chunks) whole = whole === null ? chunk : whole.concat(chunk)
  return whole
}

/** Requests of the AI SDK that name an earlier item by its id alone. */
let references = 0
const noting: typeof fetch = (input, init) => {
  if (String(init?.body).includes('"item_reference"')) references++
  return fetch(input, init)
}

const libraries: Readonly<Record<string, Library>> = {
  'openai 7': openai7,
  '@ai-sdk/openai': aiSdk(async (load, { base, key }) => {
    const { createOpenAI } = await load('@ai-sdk/openai')
    return createOpenAI({ baseURL: `${base}/v1`, apiKey: key, fetch: noting })
  }),
  '@ai-sdk/anthropic': aiSdk(async (load, { base, key }) => {
    const { createAnthropic } = await load('@ai-sdk/anthropic')
    return createAnthropic({ baseURL: `${base}/v1`, apiKey: key })
  }),
  '@ai-sdk/google': aiSdk(async (load, { base, key }) => {
    const { createGoogle, createGoogleGenerativeAI } = await load('@ai-sdk/google')
    return (createGoogle ?? createGoogleGenerativeAI)({ baseURL: `${base}/v1beta`, apiKey: key })
  }),
  '@openai/agents': agents,
  '@langchain/openai with useResponsesApi': langchain,
}

t.test('stock libraries go through tools over three turns before every backend', { skip }, async (t) => {
  const near = createRequire(join(await installed(t, ...packages), 'package.json'))
  const load: Load = async (name) => import(pathToFileURL(near.resolve(name)).href)
  const doors = await opened(
    t,
    scripted((turn, tools) => (tools.length === 0 ? [{ say: '{"sky":"blue"}' }] : weatherScript(turn, tools))),
  )
  for (const [name, library] of Object.entries(libraries)) {
    await t.test(name, async (t) => {
      for (const model of backends)
        for (const stream of [false, true]) {
          const which = `before ${model}, ${stream ? 'streamed' : 'whole'}`
          t.equal(await library(load, doors, model, stream), 'It is sunny.', which)
          const body = JSON.stringify(doors.asked())
          for (const city of ['Lima', 'Rome', 'Oslo']) t.match(body, told(city), `${which}: the backend is told`)
        }
    })
  }

  t.ok(references > 0, 'the AI SDK names earlier items by their ids, and they are found without a store')

  await t.test('openai 7 and the AI SDK read a structured answer', async (t) => {
    const { z } = await load('zod')
    const { default: OpenAI } = await load('openai')
    const { zodTextFormat } = await load('openai/helpers/zod')
    const { generateText, Output } = await load('ai')
    const { createOpenAI } = await load('@ai-sdk/openai')
    const schema = z.object({ sky: z.string() })
    const client = new OpenAI({ baseURL: `${doors.base}/v1`, apiKey: doors.key, maxRetries: 0 })
    const provider = createOpenAI({ baseURL: `${doors.base}/v1`, apiKey: doors.key })
    const text = { format: zodTextFormat(schema, 'sky') }
    for (const model of ['chat', 'gemini']) {
      const parsed = await client.responses.parse({ model, input: 'Which sky?', text })
      t.same(parsed.output_parsed, { sky: 'blue' }, model)
      const asked = { model: provider(model), prompt: 'Which sky?', output: Output.object({ schema }), maxRetries: 0 }
      t.same((await generateText(asked)).output, { sky: 'blue' }, model)
    }
  })
})

t.test('stock libraries decide by the Decisions API', { skip }, async (t) => {
  const near = createRequire(join(await installed(t, ...packages), 'package.json'))
  const load: Load = async (name) => import(pathToFileURL(near.resolve(name)).href)
  const { base, key } = await running(t, { ...memory(), upstreams: [use(useLite)] })
  const billing = 'Payments, refunds, invoices'
  const technical = 'Errors and outages'

  await t.test('openai 7', async (t) => {
    const { default: OpenAI } = await load('openai')
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 })
    const choices = [
      { value: 'billing', description: billing },
      { value: 'technical', description: technical },
    ]
    const { answers, usage, model } = await client.decisions.create({
      model: 'use-lite',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'I was charged twice and want a refund.' }] }],
      questions: [
        { type: 'choice', name: 'team', instructions: 'Which team handles this?', choices },
        { type: 'predicate', instructions: 'Is money asked for?' },
      ],
    })
    t.match(
      [model, answers],
      [
        'use-lite',
        [
          { name: 'team', choice: 'billing' },
          { name: null, probability: Number },
        ],
      ],
    )
    t.ok(usage.total_tokens > 0)
    const wrong = client.decisions.create({ model: 'use-lite', input: 'x', questions: [] })
    t.match(await wrong.catch((error: unknown) => error), { status: 400, param: 'questions' })
  })

  await t.test('the AI SDK', async (t) => {
    const { experimental_decide } = await load('ai')
    const { createOpenAI } = await load('@ai-sdk/openai')
    const model = createOpenAI({ baseURL: `${base}/v1`, apiKey: key }).decisionModel('use-lite')
    const questions = {
      team: { type: 'choice', instructions: 'Which team handles this?', criteria: { billing, technical } },
      upset: { type: 'score', instructions: 'How upset is the writer?', criteria: ['calm', 'annoyed', 'furious'] },
      refund: { type: 'boolean', instructions: 'Is money asked for?' },
    }
    const state = { message: 'I was charged twice and want a refund.' }
    const { answers, usage } = await experimental_decide({ model, state, questions, maxRetries: 0 })
    t.match(answers, { team: { choice: 'billing' }, upset: { score: Number }, refund: { probability: Number } })
    t.ok(usage.inputTokens > 0)
  })

  await t.test('LangChain for Python', async (t) => {
    const folder = t.testdir({ 'decide.py': langchainDecides })
    const run = promisify(execFile)
    await run('python3', ['-m', 'venv', join(folder, 'venv')])
    const python = join(folder, 'venv/bin/python')
    await run(python, ['-m', 'pip', '-q', 'install', 'langchain-openai>=1.7'])
    const env = { PATH: process.env['PATH'], OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: key }
    const { stdout } = await run(python, [join(folder, 'decide.py')], { env })
    t.match(JSON.parse(stdout), { team: 'billing', urgent: Number, upset: Number })
  })
})

const langchainDecides = `
import json
from langchain_openai.decisions import Choice, OpenAIDecisions, Predicate, Score
decisions = OpenAIDecisions(model="use-lite", max_retries=0)
answer = decisions.invoke({
    "input": "I was charged twice and want a refund.",
    "questions": {
        "team": Choice(instructions="Which team handles this?", choices={"billing": "Payments, refunds, invoices", "technical": "Errors and outages"}),
        "urgent": Predicate(instructions="Must somebody act today?"),
        "upset": Score(instructions="How upset is the writer?", levels=["calm", "annoyed", "furious"]),
    },
})
print(json.dumps({
    "team": answer.choices["team"].choice,
    "urgent": answer.predicates["urgent"].probability,
    "upset": answer.scores["upset"].score,
}))
`
