import fc from 'fast-check'
import t from 'tap'
import { faultOf, toldFault } from '../../../plugins/shared/backend.ts'
import { redactedSentence } from '../../../plugins/shared/redact-sentence.ts'
import { refusalIn } from '../../../plugins/shared/refusal.ts'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import { quietClock } from '../../slowness.ts'

const error = (fields: object) => ({ error: fields })

/** What providers answer with, as their documentation and servers word it, and what it means. */
const table: readonly (readonly [code: string | null, status: number, body: unknown, param?: string])[] = [
  ['context_length_exceeded', 400, error({ message: 'Too long', param: 'messages', code: 'context_length_exceeded' })],
  ['context_length_exceeded', 400, error({ type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' })], // prettier-ignore
  ['context_length_exceeded', 400, error({ code: 400, status: 'INVALID_ARGUMENT', message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' })], // prettier-ignore
  ['context_length_exceeded', 400, { object: 'error', code: 400, message: "This model's maximum context length is 4096 tokens." }], // prettier-ignore
  ['context_length_exceeded', 400, error({ code: 400, type: 'exceed_context_size_error', message: 'try increasing it' })], // prettier-ignore
  ['context_length_exceeded', 400, { error: 'the input length exceeds the context length' }],
  ['context_length_exceeded', 400, { message: 'The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.' }], // prettier-ignore
  ['context_length_exceeded', 400, error({ message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)' })], // prettier-ignore
  ['context_length_exceeded', 422, { error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4500 `inputs` tokens and 512 `max_new_tokens`' }], // prettier-ignore
  ['context_length_exceeded', 400, { object: 'error', message: 'The decoder prompt (length 40969) is longer than the maximum model length of 32768.' }], // prettier-ignore
  ['context_length_exceeded', 400, { error: 'The number of tokens to keep from the initial prompt is greater than the context length' }], // prettier-ignore
  ['context_length_exceeded', 400, { error: 'The model is loaded with context length of only 4096 tokens, which is not enough.' }], // prettier-ignore
  ['context_length_exceeded', 400, error({ code: 400, message: 'Unable to submit request because the input token count is 32768 but the model supports up to 20000.' })], // prettier-ignore
  ['context_length_exceeded', 400, error({ code: '1261', message: 'Prompt exceeds max length' })],
  ['context_length_exceeded', 400, error({ code: 'invalid_parameter_error', message: 'Range of input length should be [1, 129024]' })], // prettier-ignore
  ['content_filter', 400, error({ code: 'content_filter', message: 'Filtered', innererror: { code: 'ResponsibleAIPolicyViolation' } })], // prettier-ignore
  ['content_filter', 400, error({ code: 'moderation_blocked', message: 'No' })],
  ['content_filter', 400, error({ type: 'invalid_request_error', message: 'Output blocked by content filtering policy' })], // prettier-ignore
  ['content_filter', 403, error({ code: 403, message: 'Your input was flagged', metadata: { reasons: ['violence'] } })],
  ['content_filter', 403, { code: 'The caller does not have permission to execute the specified operation', error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO' }], // prettier-ignore
  ['content_filter', 400, error({ code: 'invalid_request_error', message: 'Content Exists Risk' })],
  ['unsupported_parameter', 400, error({ message: 'No', param: 'max_tokens', code: 'unsupported_parameter' }), 'max_tokens'], // prettier-ignore
  ['unsupported_parameter', 400, error({ message: 'Unrecognized request argument supplied: frobnicate', param: null }), 'frobnicate'], // prettier-ignore
  ['unsupported_parameter', 400, error({ type: 'invalid_request_error', message: 'frobnicate: Extra inputs are not permitted' }), 'frobnicate'], // prettier-ignore
  ['unsupported_parameter', 400, error({ code: 400, message: 'Invalid JSON payload received. Unknown name "frobnicate": Cannot find field.' }), 'frobnicate'], // prettier-ignore
  ['unsupported_parameter', 422, { detail: [{ type: 'extra_forbidden', loc: ['body', 'options', 'x'], msg: 'Extra inputs are not permitted' }] }, 'options.x'], // prettier-ignore
  ['unsupported_parameter', 400, error({ code: 400, message: 'Provider returned error', metadata: { raw: JSON.stringify(error({ code: 'unsupported_parameter', param: 'top_k', message: 'No' })) } }), 'top_k'], // prettier-ignore
  ['insufficient_quota', 429, error({ code: 'insufficient_quota', message: 'You exceeded your current quota' })],
  ['insufficient_quota', 402, error({ code: 402, message: 'Insufficient credits. Add more.' })],
  ['insufficient_quota', 400, error({ message: 'Your credit balance is too low to access the API.' })],
  ['model_not_found', 404, error({ code: 'model_not_found', message: 'No' })],
  ['model_not_found', 404, error({ type: 'not_found_error', message: 'model: claude-9' })],
  ['model_not_found', 404, { error: 'model "llama9" not found, try pulling it first' }],
  ['model_not_found', 404, error({ code: 404, status: 'NOT_FOUND', message: 'models/gemini-9 is not found for API version v1' })], // prettier-ignore
  ['model_not_found', 400, { object: 'error', type: 'invalid_model', code: '1500', message: 'Invalid model: some' }],
  ['model_not_found', 400, error({ code: 400, message: 'some/model is not a valid model ID' })],
  ['model_not_found', 400, error({ code: 'invalid_request_error', message: 'Model Not Exist' })],
  ['model_not_found', 400, error({ message: 'The model `some` does not exist.' })],
  ['model_not_found', 400, { message: 'The provided model identifier is invalid.' }],
  ['model_not_found', 400, { message: 'Invocation of model ID amazon.nova-pro-v1:0 with on-demand throughput isn’t supported. Retry your request.' }], // prettier-ignore
  ['invalid_image', 400, error({ code: 'image_parse_error', message: 'No' })],
  ['invalid_image', 400, [error({ code: 400, message: 'Unable to process input image. Please retry' })]],
  ['invalid_image', 400, error({ message: 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum' })],
  ['invalid_image', 400, { error: 'Failed to load image: cannot identify image file' }],
  ['request_too_large', 413, '<html>Request Entity Too Large</html>'],
  ['request_too_large', 413, error({ type: 'request_too_large', message: 'Request exceeds the maximum size' })],
  ['request_too_large', 400, error({ code: 400, message: 'Request payload size exceeds the limit: 20971520 bytes.' })],
  // A limit that passes is no account that is used up.
  [null, 429, error({ code: 429, status: 'RESOURCE_EXHAUSTED', message: 'You exceeded your current quota' })],
  [null, 400, error({ message: "Invalid value: 'x'.", param: 'messages[0]', code: 'invalid_value' }), 'messages[0]'],
  [null, 400, error({ message: 'Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions. To use function tools, use /v1/responses.', type: 'invalid_request_error', param: 'reasoning_effort', code: null }), 'reasoning_effort'], // prettier-ignore
  // What a caller names is the caller's to mend, though a model stands in the sentence.
  [null, 400, error({ message: 'The model called a tool `find` that is not found in the list of tools' })],
  [null, 422, error({ message: 'For this model the file `a.pdf` does not exist' })],
  [null, 400, error({ message: '`max_new_tokens` must be <= 4096' })],
  [null, 400, '<html><body>maximum context length</body></html>'],
  [null, 400, '{"error":{"message":"maximum context le'],
  [null, 400, ''],
]

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

t.test('each dialect says the same in its own words', async (t) => {
  for (const [code, status, body, param = null] of table) {
    const refusal = refusalIn(status, textOf(body))
    t.same([refusal.code, refusal.param], [code, param], textOf(body))
  }
})

const fault = (status: number, body: unknown) => faultOf(status, null, new Error(textOf(body)))

t.test('what is the caller’s is told to the caller', async (t) => {
  for (const [code, status, body, param] of table) {
    const error = fault(status, body)
    const own = ['insufficient_quota', 'model_not_found'].includes(`${code}`) || ![400, 403, 413, 422].includes(status)
    t.equal(error instanceof BadRequest, !own, textOf(body))
    if (!own) t.match(error, { message: 'The backend refused the request', code })
    if (param !== undefined) t.same(Object.keys(error.validator ?? {}), [param])
    if (own) t.equal(error.told, null, 'no sentence on what is the operator’s')
  }
  const refused = error({ message: 'Too hot' })
  t.equal(fault(400, refused).told, 'Too hot')
  const passed = error({ message: 'Provider returned error', metadata: { raw: JSON.stringify(refused) } })
  t.equal(fault(400, passed).told, 'Too hot', 'what another backend said')
  t.equal(fault(422, refused).told, 'Too hot')
  t.equal(fault(413, refused).told, 'Too hot')
  for (const status of [401, 402, 403, 404, 409, 429, 500, 503]) t.equal(fault(status, refused).told, null, `${status}`)
  const filtered = fault(403, error({ code: 'content_filter', message: 'Too hot' }))
  t.same([filtered instanceof BadRequest, filtered.told], [true, null], 'never for a 403')
  t.match(fault(400, error({ message: 'Your credit balance is too low' })), { again: true, answered: 400 })
})

t.test('a status of one vendor alone means what most vendors say by another', async (t) => {
  const key = { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***LA.' }
  const minute = error({
    type: 'tokens',
    code: 'rate_limit_exceeded',
    message: 'Request too large on tokens per minute',
  })
  for (const [status, body, answered] of [
    [400, key, 401],
    [413, minute, 429],
    [498, error({ code: 'capacity_exceeded', message: 'Flex tier capacity exceeded' }), 503],
    [425, '', 425],
  ] as const) {
    t.match(fault(status, body), { again: true, answered, told: null, code: null }, `${status}`)
    t.ok(fault(status, body) instanceof UpstreamFailed, `${status}`)
  }
  const quoted = error({ message: `Tool result: ${JSON.stringify(key)} ${JSON.stringify(minute)}` })
  t.ok(fault(400, quoted) instanceof BadRequest, 'words that a refusal quotes mean nothing')
  t.ok(fault(413, quoted) instanceof BadRequest, 'a body that is too large for every backend')
})

t.test('an error inside an answer that began well', async (t) => {
  const long = toldFault({ code: 400, message: 'This model’s maximum context length is 5 tokens' })
  t.ok(long instanceof BadRequest)
  t.equal(long.code, 'context_length_exceeded')
  for (const other of [{ code: 502, message: 'maximum context length' }, { message: 'Overloaded' }, 'gone', null]) {
    const error = toldFault(other)
    t.ok(error instanceof UpstreamFailed)
    t.equal(error.told, null)
  }
})

t.test('sentences that say nothing of the operator stay as they are', async (t) => {
  for (const text of [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes',
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    'The models Qwen/Qwen2.5-72B-Instruct, gemini-2.5-pro, claude-3-5-sonnet-20241022 and llama3.2:1b take image/png, e.g. v1.2.3.',
    'Your organization has no access to it, and the user is to ask.',
    'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
    'The first content must have the role user, and each user turn a text: user input is empty.',
  ])
    t.equal(redactedSentence(text), text)
})

/** What must never be told, in every place of a sentence. */
const secrets = [
  'http://10.1.2.3:8000/v1/chat',
  'https://api.vendor.example/v1?key=5',
  '10.1.2.3',
  '10.1.2.3:8000',
  '[2001:db8::7]:8000',
  'fe80::1',
  'localhost:8000',
  'vllm-7.prod.svc.cluster.local',
  'gpu7.internal',
  'ops@vendor.example',
  '/srv/models/llama/weights.bin',
  'sk-proj-****abcd',
  'sk-ant-api03-Zx81kQ',
  'AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY',
  'gsk_Zx81kQvBn27aaQ',
  'hf_abcdefghijklmnopqrst',
  'eyJhbGciOiJIUzI1NiJ9.e30.ZRrHA1JJJW8opsbCGfG',
  '9f86d081884c7d659a2feaa0c55ad015',
  '550e8400-e29b-41d4-a716-446655440000',
  'org-abcDEF',
  'org-secret-of-the-backend',
  'proj_x9',
  'acct_1Nv0',
  'arn:aws:bedrock:eu-west-1:123456789012:model/x',
  'projects/acme-prod/locations/global',
  '123456789012',
  'req_011CSHoEeqs5C35K2UUqR7Fy',
]

t.test('addresses, hosts, keys and ids never come through', async (t) => {
  for (const secret of secrets)
    for (const text of [`${secret} fails`, `It fails at ${secret}.`, `It fails ("${secret}"), sadly`, `x='${secret}'`])
      t.notOk(redactedSentence(text)?.includes(secret), text)
  for (const [text, secret] of [
    ['in organization acme on tokens', 'acme'],
    ["The organization 'Acme Corp' may not", 'Acme'],
    ['Project acme-prod is over', 'acme'],
    ['for account id: 7x2', '7x2'],
    ['user bob has none', 'bob'],
  ] as const)
    t.notOk(redactedSentence(text)!.includes(secret), text)
  for (const text of ['Invalid API key given', 'Your billing is over', 'authentication failed', ' \n\u0000 '])
    t.equal(redactedSentence(text), null, text)
})

t.test('whatever a backend says, a sentence is short, of one line and read in little time', async (t) => {
  const texts = fc.oneof(fc.string({ maxLength: 3_000 }), fc.stringMatching(/^[a-z0-9.:/@_\- ]{0,600}$/))
  fc.assert(
    fc.property(texts, fc.constantFrom(...secrets), (text, secret) => {
      const words = redactedSentence(`${text} ${secret} ${text}`) ?? ''
      return words.length <= 500 && !/[\n\r\u0000-\u001f]/.test(words) && !words.includes(secret)
    }),
  )
  t.equal(redactedSentence('It is too long. '.repeat(100))?.length, 500)
  const emoji = `${'It is too long. '.repeat(31)}Oh `
  t.equal(redactedSentence(`${emoji}😀 and so on`), emoji, 'a sentence ends with a whole character')
  const clock = quietClock()
  for (const piece of ['a.', 'a-', '::', '/a', '@a', '"', 'sk-', 'org', '9', 'a1', ' a'])
    refusalIn(400, JSON.stringify(error({ message: piece.repeat(16_384 / piece.length) })))
  t.ok(clock() < 2_000, 'however it is made')
})

t.test('the paths of public interfaces are no addresses', (t) => {
  const sentence = 'Not in /v1/chat/completions. To use function tools, use /v1/responses or another model.'
  t.equal(redactedSentence(sentence), sentence)
  t.equal(redactedSentence('It is at /v1/internal/keys'), 'It is at [address]')
  t.end()
})
