import { GoogleGenAI } from '@google/genai'
import t from 'tap'
import { eventsOf, opened, type Doors } from '../fakes/doors.ts'
import type { Asked } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'

const hello = scripted(() => [{ think: 'Let me see.' }, { say: 'Hello there.' }])

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

const post = (doors: Doors, body: object, model = 'chat', what = 'generateContent') =>
  doors.call('POST', `/v1beta/models/${model}:${what}`, { contents, ...body })

const rich = {
  contents: [
    { role: 'user', parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
    { role: 'model', parts: [{ functionCall: { name: 'look', args: { a: 1 } }, thoughtSignature: 'Z29vZ2xl' }] },
    { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output: 'seen' } } }] },
  ],
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  tools: [
    {
      functionDeclarations: [
        { name: 'look', parameters: { type: 'OBJECT', properties: { type: { type: 'STRING', nullable: true } } } },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
  generationConfig: {
    temperature: 0.5,
    topK: 3,
    maxOutputTokens: 50,
    stopSequences: ['x'],
    responseMimeType: 'application/json',
    responseSchema: { type: 'OBJECT', properties: {} },
    thinkingConfig: { thinkingBudget: 8000, includeThoughts: true },
  },
  safetySettings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' }],
}

t.test('a backend of the same dialect is asked what the caller asked', async (t) => {
  const doors = await opened(t, hello)
  const answer = await post(doors, rich, 'gemini')
  t.equal(answer.headers.get('x-sealgate-dropped'), null)
  t.same(doors.asked(), rich)
  t.match(await answer.json(), { modelVersion: 'gemini', usageMetadata: { totalTokenCount: 30 } })
})

t.test('a request in the words of the common format, in either spelling', async (t) => {
  const doors = await opened(t, hello)
  const { systemInstruction, toolConfig, generationConfig, ...others } = rich
  const snake = {
    ...others,
    system_instruction: systemInstruction,
    tool_config: toolConfig,
    generation_config: generationConfig,
  }
  for (const body of [rich, snake]) {
    const answer = await post(doors, body)
    const told = 'safetySettings, contents.parts.thoughtSignature, generationConfig.topK'
    t.equal(answer.headers.get('x-sealgate-dropped'), told)
    t.match(doors.asked(), {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ text: 'Look' }, { image_url: { url: 'data:image/png;base64,AAAA' } }] },
        { role: 'assistant', tool_calls: [{ id: 'call_0', function: { name: 'look', arguments: '{"a":1}' } }] },
        { role: 'tool', tool_call_id: 'call_0', content: 'seen' },
      ],
      tools: [
        {
          function: {
            name: 'look',
            parameters: { type: 'object', properties: { type: { type: ['string', 'null'] } } },
          },
        },
      ],
      tool_choice: 'required',
      temperature: 0.5,
      max_completion_tokens: 50,
      stop: ['x'],
      reasoning_effort: 'medium',
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    })
  }
})

t.test('the vendor’s client keeps a streamed turn for its next one', async (t) => {
  const doors = await opened(
    t,
    scripted(() => [{ say: 'Hello there.' }]),
  )
  const client = new GoogleGenAI({ apiKey: doors.key, httpOptions: { baseUrl: doors.base } })
  for (const model of ['chat', 'messages', 'responses', 'gemini']) {
    const chat = client.chats.create({ model })
    for (const message of ['I am Ada.', 'Who am I?'])
      for await (const piece of await chat.sendMessageStream({ message })) t.ok(piece.candidates)
    t.match(JSON.stringify(doors.asked()), /I am Ada\..*Hello there\..*Who am I\?/, model)
  }
})

t.test('a schema that may be null keeps null among its choices', async (t) => {
  const doors = await opened(t, hello)
  const properties = {
    some: { nullable: true, anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] },
    word: { type: 'STRING', nullable: true, enum: ['x', 'y'] },
  }
  const responseSchema = { type: 'OBJECT', properties }
  const thinkingConfig = { thinkingLevel: 'THINKING_LEVEL_UNSPECIFIED' }
  await post(doors, { generationConfig: { responseMimeType: 'application/json', responseSchema, thinkingConfig } })
  const sent: any = doors.asked()
  t.strictSame(sent.response_format.json_schema.schema.properties, {
    some: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    word: { type: ['string', 'null'], enum: ['x', 'y', null] },
  })
  t.notOk('reasoning_effort' in sent, 'a level without a name is none')
})

t.test('bounds that the vendor writes as texts become numbers, and an empty list of stops stays away', async (t) => {
  const doors = await opened(t, hello)
  const responseSchema = { type: 'ARRAY', minItems: '1', maxItems: '3', items: { type: 'STRING', maxLength: '9' } }
  await post(doors, { generationConfig: { stopSequences: [], responseMimeType: 'application/json', responseSchema } })
  const schema = { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', maxLength: 9 } }
  t.strictSame(doors.asked().response_format.json_schema.schema, schema)
  t.notOk('stop' in doors.asked())
})

t.test('contents without a part are refused before a backend is asked', async (t) => {
  const doors = await opened(t, hello)
  const answer = await post(doors, { contents: [{}] }, 'chat')
  const { error } = (await answer.json()) as { readonly error: { readonly status: string } }
  t.match([answer.status, error.status], [400, 'INVALID_ARGUMENT'])
  t.equal(doors.backend.asked.length, 0, 'no backend was asked')
})

t.test('state at the vendor is refused, tools that the vendor runs are told', async (t) => {
  const doors = await opened(t, hello)
  const fileData = { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc', mimeType: 'image/png' }
  for (const model of ['chat', 'gemini']) {
    for (const body of [
      { cachedContent: 'cachedContents/1' },
      { contents: [{ role: 'user', parts: [{ fileData }] }] },
    ]) {
      const answer = await post(doors, body, model)
      const { error } = (await answer.json()) as any
      t.match(
        [answer.status, error.status, error.details],
        [400, 'INVALID_ARGUMENT', [{ reason: 'state_not_supported' }]],
      )
    }
    t.equal(doors.backend.asked.length, 0, 'no backend was asked')
  }
  const answer = await post(doors, { tools: [{ googleSearch: {} }] }, 'gemini')
  t.equal(answer.headers.get('x-sealgate-dropped'), 'tools.googleSearch')
  t.notOk('tools' in doors.asked())
})

t.test('thoughts are told to those who ask for them, streams come as events or as an array', async (t) => {
  const doors = await opened(t, hello)
  const texts = (pieces: readonly any[]) =>
    pieces
      .flatMap(({ candidates }) => candidates[0].content.parts)
      .flatMap(({ text, thought }: any) => (text ? [[text, thought === true]] : []))
  const silent = (await (await post(doors, {})).json()) as any
  t.same(texts([silent]), [['Hello there.', false]])
  const aloud = { generationConfig: { thinkingConfig: { includeThoughts: true } } }
  t.same(texts([await (await post(doors, aloud)).json()]), [
    ['Let me see.', true],
    ['Hello there.', false],
  ])
  const events = eventsOf(await (await post(doors, {}, 'chat', 'streamGenerateContent?alt=sse')).text())
  const array = (await (await post(doors, {}, 'chat', 'streamGenerateContent')).json()) as any[]
  for (const pieces of [events, array]) {
    t.same(texts(pieces), [
      ['Hello ', false],
      ['there.', false],
    ])
    t.match(pieces.at(-1), { candidates: [{ finishReason: 'STOP' }], usageMetadata: { totalTokenCount: 30 } })
  }
  const cut = await opened(t, (request: Asked) => ({ ...hello(request), pace: { cut: 900 } }))
  const failed = { error: { status: 'UNAVAILABLE', code: 503 } }
  t.match(eventsOf(await (await post(cut, {}, 'chat', 'streamGenerateContent?alt=sse')).text()).at(-1), failed)
  t.match(((await (await post(cut, {}, 'chat', 'streamGenerateContent')).json()) as any[]).at(-1), failed)
})

t.test('tokens are counted, or estimated, and errors told in the dialect', async (t) => {
  const doors = await opened(t, hello)
  t.same(await (await post(doors, {}, 'chat', 'countTokens')).json(), { totalTokens: 6 })
  t.same(await (await post(doors, {}, 'gemini', 'countTokens')).json(), { totalTokens: 21 })
  const unknown = await post(doors, {}, 'nobody')
  t.match([unknown.status, await unknown.json()], [404, { error: { code: 404, status: 'NOT_FOUND' } }])
  const malformed = await post(doors, { contents: 'Hi' })
  t.match(
    [malformed.status, await malformed.json()],
    [400, { error: { status: 'INVALID_ARGUMENT', message: /contents/ } }],
  )
})

t.test('an object with more members than the dialect has is refused before it is rewritten', async (t) => {
  const doors = await opened(t, hello)
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 0]))
  const bodies = (count: number): readonly object[] => [
    members(count - 1),
    { contents: [{ role: 'user', parts: [{ text: 'Hi', ...members(count - 1) }] }] },
    { tools: [members(count)] },
    { generationConfig: members(count) },
  ]
  for (const body of bodies(256)) t.equal((await post(doors, body, 'gemini')).status, 200)
  for (const body of bodies(257)) {
    const answer = await post(doors, body, 'gemini')
    const { error } = (await answer.json()) as { error: { message: string } }
    t.match([answer.status, error.message], [400, /object has too many members/])
  }
})
