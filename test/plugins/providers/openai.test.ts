import OpenAI, { AzureOpenAI, toFile } from 'openai'
import t from 'tap'
import { collectChunks } from '../../../core/inference/collect-chunks.ts'
import { use } from '../../../core/plugin.ts'
import type { ChatBody } from '../../../core/ports/upstream.ts'
import openai from '../../../plugins/providers/openai.ts'
import { conform } from '../../contracts/contract.ts'
import { upstream } from '../../contracts/upstream.ts'
import { decideCall, decides, decisionsAnswer } from '../../fakes/deciding.ts'
import type { Asked } from '../../fakes/recorded.ts'
import { backend, eventStream, everyCut, provided, staged, vector, type Recording } from '../../contracts/stage.ts'
import { compare, json, never } from '../../fakes/vendor.ts'
import { keepsContracts, throwsWhenCut } from './contract.ts'

const recording: Recording = {
  provider: openai,
  settings: (url) => ({ apiKey: 'sk-1', baseUrl: `${url}/v1` }),
  model: 'gpt-4o',
  vectors: 'openai',
  stream: eventStream,
  lists: /^\/v1\/models$/,
  chats: /^\/v1\/chat\/completions$/,
}

/** Every field of a form; files by their bytes. Boundaries and the order of fields differ between clients. */
const fieldsOf = async ({ headers, body }: Asked) => {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type']! },
  }).formData()
  const fields: [string, unknown][] = []
  for (const [name, value] of form) {
    fields.push([name, typeof value === 'string' ? value : [value.name, value.type, await value.text()]])
  }
  return fields.sort(([a], [b]) => (a < b ? -1 : 1))
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('a stream without its end mark throws, wherever it ends', (t) => throwsWhenCut(t, recording))

t.test('requests equal those of the vendor’s own client', async (t) => {
  const server = await backend(t, async ({ path, body }) => {
    const name = /models$/.test(path)
      ? 'models'
      : /embeddings$/.test(path)
        ? 'embeddings'
        : /generations$/.test(path)
          ? 'images'
          : /transl|transc/.test(path)
            ? 'transcription'
            : 'chat'
    if (/speech$/.test(path)) return { headers: { 'content-type': 'audio/mpeg' }, body: 'mp3' }
    if (body.includes('"stream":true'))
      return { headers: { 'content-type': 'text/event-stream' }, body: await vector('openai/chat.sse') }
    return { headers: json, body: await vector(`openai/${name}.json`) }
  })
  const settings = { apiKey: 'sk-1', baseUrl: `${server.url}/v1/`, organization: 'org-1', project: 'proj-1' }
  const ours = await provided(t, openai, settings)
  const theirs = new OpenAI({
    apiKey: 'sk-1',
    baseURL: `${server.url}/v1`,
    organization: 'org-1',
    project: 'proj-1',
    maxRetries: 0,
  })

  /** The last two requests: same place, same body, same names. */
  const compared = async (
    work: () => Promise<unknown>,
    again: () => Promise<unknown>,
    read = async ({ body }: Asked): Promise<unknown> => (body.length ? JSON.parse(body.toString()) : null),
  ) => {
    await work()
    await again()
    const [one, other] = server.asked.splice(0) as [Asked, Asked]
    t.equal(one.method, other.method)
    t.equal(one.path, other.path)
    for (const name of ['authorization', 'openai-organization', 'openai-project'])
      t.equal(one.headers[name], other.headers[name], name)
    t.equal(one.headers['content-type']?.split(';')[0], other.headers['content-type']?.split(';')[0])
    t.same(await read(one), await read(other), one.path)
  }

  const body = {
    messages: [
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }],
    tool_choice: 'auto',
    response_format: { type: 'json_object' },
    logprobs: true,
    top_logprobs: 2,
    reasoning_effort: 'low',
    max_completion_tokens: 9,
    n: 1,
  } as const
  const asBody = body as unknown as ChatBody
  await compared(
    () => ours.chat!({ model: 'gpt-4o', stream: false, body: asBody }, never),
    () => theirs.chat.completions.create({ model: 'gpt-4o', ...structuredClone(body) } as never),
  )
  await compared(
    async () => {
      const answer = await ours.chat!(
        { model: 'gpt-4o', stream: true, body: { ...asBody, stream_options: { include_obfuscation: false } } },
        never,
      )
      if (answer.kind === 'chunks') await collectChunks(answer.chunks)
    },
    async () => {
      const options = { include_obfuscation: false, include_usage: true }
      const stream: any = await theirs.chat.completions.create({
        model: 'gpt-4o',
        stream: true,
        ...structuredClone(body),
        stream_options: options,
      } as never)
      for await (const _ of stream);
    },
  )
  await compared(
    () => ours.models(never),
    () => Promise.resolve(theirs.models.list()),
  )
  await compared(
    () => ours.embed!({ model: 'text-embedding-3-small', texts: ['a', 'b'], dimensions: 3 }, never),
    () =>
      Promise.resolve(theirs.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'], dimensions: 3 })),
  )
  await compared(
    () => ours.speak!({ model: 'gpt-4o-mini-tts', text: 'Hi', format: 'wav', speed: 1.5 }, never),
    () =>
      Promise.resolve(
        theirs.audio.speech.create({
          model: 'gpt-4o-mini-tts',
          input: 'Hi',
          voice: 'alloy',
          response_format: 'wav',
          speed: 1.5,
        }),
      ),
  )
  await compared(
    () =>
      ours.draw!(
        { model: 'gpt-image-1', prompt: 'A cat', count: 1, size: '1024x1024', extra: { quality: 'high' } },
        never,
      ),
    () =>
      Promise.resolve(
        theirs.images.generate({ model: 'gpt-image-1', prompt: 'A cat', n: 1, size: '1024x1024', quality: 'high' }),
      ),
  )
  await compared(
    () => ours.draw!({ model: 'dall-e-3', prompt: 'A cat' }, never),
    () => Promise.resolve(theirs.images.generate({ model: 'dall-e-3', prompt: 'A cat', response_format: 'b64_json' })),
  )
  const bytes = new TextEncoder().encode('RIFF form-boundary-0\r\n--')
  const audio = { name: 'a.wav', mime: 'audio/wav', bytes }
  const file = () => toFile(bytes, 'a.wav', { type: 'audio/wav' })
  await compared(
    () =>
      ours.transcribe!(
        { model: 'whisper-1', audio, language: 'en', prompt: 'Names: Zoë', granularities: ['word', 'segment'] },
        never,
      ),
    async () =>
      theirs.audio.transcriptions.create({
        model: 'whisper-1',
        file: await file(),
        language: 'en',
        prompt: 'Names: Zoë',
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      }),
    fieldsOf,
  )
  await compared(
    () => ours.transcribe!({ model: 'whisper-1', audio, translate: true, language: 'de' }, never),
    async () =>
      theirs.audio.translations.create({ model: 'whisper-1', file: await file(), response_format: 'verbose_json' }),
    fieldsOf,
  )
  await compared(
    () => ours.transcribe!({ model: 'gpt-4o-transcribe-diarize', audio, diarize: true }, never),
    async () =>
      theirs.audio.transcriptions.create({
        model: 'gpt-4o-transcribe-diarize',
        file: await file(),
        response_format: 'diarized_json',
        chunking_strategy: 'auto',
      }),
    fieldsOf,
  )
})

t.test('requests to Azure name the deployment', async (t) => {
  const azure: Recording = {
    ...recording,
    settings: (url) => ({
      apiKey: 'key-1',
      baseUrl: url,
      azure: { apiVersion: '2024-10-21' },
      types: { mine: 'CHAT' },
    }),
    model: 'mine',
    vectors: 'azure',
    lists: /^\/openai\/models\?api-version=2024-10-21$/,
    chats: /^\/openai\/deployments\/mine\/chat\/completions\?api-version=2024-10-21$/,
  }
  const skip = 'errors and tools are those of the other surface'
  await conform(t, upstream.contract, (t) => staged(t, azure), {
    'calls tools in a stream as in one piece': skip,
    'too many requests: again, and when': skip,
    'its own failures and our credentials are not the caller’s fault': skip,
    'an error inside a stream throws, behind what came before': skip,
  })
  const { bytes, fooled } = await everyCut(t, azure)
  t.same(fooled, [bytes])

  const server = await backend(t, async () => ({ headers: json, body: await vector('azure/chat.json') }))
  const ours = await provided(t, openai, azure.settings(server.url))
  const theirs = new AzureOpenAI({ apiKey: 'key-1', endpoint: server.url, apiVersion: '2024-10-21', maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  await ours.chat!({ model: 'mine', stream: false, body: { messages } }, never)
  await theirs.chat.completions.create({ model: 'mine', messages })
  compare(t, server, ['api-key'])
})

t.test('wrong settings are refused', async (t) => {
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(openai, { apiKey: 'k', apikey: 'k' }), /apikey is not a known setting/)
  t.throws(() => use(openai, { baseUrl: 'nowhere' }), /baseUrl/)
})

const deciding = (url: string) => ({ apiKey: 'sk-1', baseUrl: `${url}/v1`, decisions: true })

t.test('decisions travel in the vendor’s form', (t) =>
  decides(t, { provider: openai, settings: deciding, path: '/v1/decisions', answer: decisionsAnswer }),
)

t.test('requests for decisions carry the vendor’s own headers', async (t) => {
  const server = await backend(t, async ({ path, body }) => ({
    headers: { 'content-type': 'application/json' },
    body: path.endsWith('models') ? JSON.stringify({ data: [{ id: 'gpt-6-luna' }] }) : decisionsAnswer(body.toString()),
  }))
  const ours = await provided(t, openai, { ...deciding(server.url), organization: 'org', project: 'proj' })
  t.notOk(ours.chat || ours.embed || ours.draw, 'it does nothing else')
  const inAzure = { ...deciding(server.url), azure: { apiVersion: '1' } }
  await t.rejects(provided(t, openai, inAzure), { message: 'There are no decisions on Azure' })
  t.same(await ours.models(never), [{ id: 'gpt-6-luna', type: 'DECISION' }])
  server.asked.splice(0)
  const images = ['data:image/png;base64,AAEC']
  await ours.decide!(decideCall('gpt-6-luna', { images }), never)
  const body = {
    model: 'gpt-6-luna',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: images[0] },
          { type: 'input_text', text: '{"z":1,"10":"ten","2":"two"}' },
        ],
      },
    ],
    questions: [
      {
        type: 'choice',
        instructions: 'Which?',
        choices: [{ value: '10' }, { value: '2' }, { value: 'b', description: 'The letter' }, { value: '__proto__' }],
        name: 'q1',
      },
      { type: 'predicate', instructions: 'Is it so?\nTrue: It is', name: 'q2' },
      {
        type: 'score',
        instructions: 'How much?',
        levels: ['low', 'middle', 'high'].map((description, at) => ({ label: `${at}`, description })),
        name: 'q3',
      },
    ],
  }
  // Their client has no method for it yet, but posts anywhere.
  const theirs = new OpenAI({ apiKey: 'sk-1', baseURL: `${server.url}/v1`, organization: 'org', project: 'proj' })
  await theirs.post('/decisions', { body })
  compare(t, server, ['authorization', 'openai-organization', 'openai-project', 'content-type'])
  const only = { type: 'choice', instructions: null, options: [{ label: 'only', description: null }] } as const
  const { distributions } = await ours.decide!(decideCall('m', { questions: [only] }), never)
  t.same(distributions, [{ probabilities: [1], reads: 0 }])
  t.equal(server.asked.length, 0, 'a choice of one is not asked')
})
