import { surfaceNames } from '../../adapters/production/config/surfaces.ts'
const house = { use: 'vllm', baseUrl: 'http://127.0.0.1:9/v1' }
const upstreams = [{ provider: 'house' }]
const base = { log: { level: 'silent' }, providers: { house }, models: { small: { upstreams } }, enclave: null }

const wrong = (changed: object): object => ({ ...base, ...changed })
const inModel = (changed: object): object => wrong({ models: { small: { upstreams, ...changed } } })
const inHouse = (changed: object): object => wrong({ providers: { house: { ...house, ...changed } } })
const inLimits = (limits: object): object => wrong({ limits })

/** Sound, so that each of the others is wrong in one thing. */
export const soundConfiguration = base

/** Each is wrong in one thing. The sentence has line and column, the path, what is wrong and the mend. */
export const wrongConfigurations: readonly (readonly [configuration: object, sentence: string])[] = [
  [wrong({ provider: {} }), '21:2 provider is not a known setting; did you mean providers?'],
  [wrong({ env: 'prod' }), '21:2 env expected one of development, production; did you mean production?'],
  [
    wrong({ enclave: {}, env: 'production' }),
    '20:2 enclave.evidence is dev, which proves nothing and which env "production" refuses: name another evidence, name running enclaves in enclave.connect, serve without sealing by "enclave": null, or accept it by enclave.allowDev',
  ],
  [wrong({ prefix: 'ai/' }), '21:2 prefix expected a path such as /ai, without a slash at its end'],
  [wrong({ mcp: { url: 'mcp.example.com' } }), '22:3 mcp.url expected an address that begins with http:// or https://'],
  [wrong({ mcp: { servers: { tracker: { price: 1 } } } }), '23:4 mcp.servers.tracker expected either url or command'],
  [
    wrong({ mcp: { servers: { tracker: { url: 'http://127.0.0.1:9/mcp', command: 'node' } } } }),
    '23:4 mcp.servers.tracker expected either url or command',
  ],
  [
    wrong({ mcp: { servers: { Tracker: { command: 'node' } } } }),
    '23:4 mcp.servers.Tracker expected a name of lower-case letters, digits and dashes',
  ],
  [
    wrong({ mcp: { servers: { tracker: { url: 'http://127.0.0.1:9/mcp', heders: {} } } } }),
    '25:5 mcp.servers.tracker.heders is not a known setting; did you mean headers?',
  ],
  [
    wrong({ mcp: { servers: { tracker: { url: 'tracker.example.com' } } } }),
    '24:5 mcp.servers.tracker.url expected an address that begins with http:// or https://',
  ],
  [wrong({ console: { session: 0 } }), '22:3 console.session expected 1 or more'],
  [
    wrong({ quotas: { windows: [{ of: 'key', requests: 0, per: 'day' }] } }),
    '25:5 quotas.windows.0.requests expected 1 or more',
  ],
  [
    wrong({ quotas: { windows: [{ of: 'key', requests: 1, tokens: 1, per: 'day' }] } }),
    '23:4 quotas.windows.0 expected one of requests, tokens and cost',
  ],
  [
    wrong({ quotas: { windows: [{ of: 'key', per: 'day' }] } }),
    '23:4 quotas.windows.0 expected one of requests, tokens and cost',
  ],
  [
    wrong({ quotas: { windows: [{ of: 'team', key: 'key_1', requests: 1, per: 'day' }] } }),
    '23:4 quotas.windows.0 expected key beside "of": "key" alone',
  ],
  [
    wrong({ quotas: { windows: [{ of: 'key', requests: 1, per: 'second' }] } }),
    '26:5 quotas.windows.0.per expected one of minute, hour, day, week, month',
  ],
  [
    wrong({
      quotas: {
        windows: [
          { of: 'key', requests: 1, per: 'day' },
          { of: 'key', requests: 2, per: 'day' },
        ],
      },
    }),
    '22:3 quotas.windows expected each window once',
  ],
  [
    wrong({ quotas: { windows: [{ of: 'endUser', requests: 1, per: 'day' }] } }),
    '21:2 quotas expected userSecret beside windows of endUser',
  ],
  [
    wrong({ quotas: { userSecret: 'short', windows: [{ of: 'endUser', requests: 1, per: 'day' }] } }),
    '22:3 quotas.userSecret expected 32 or more entries',
  ],
  [
    wrong({ quotas: { windows: [{ of: 'gateway', model: 'smal', requests: 1, per: 'day' }] } }),
    '25:5 quotas.windows.0.model is not one of the models',
  ],
  [
    inModel({ calibration: { id: 'a', temperature: 1, promise: { confidence: 0.8, errors: 1, certainty: 0.9 } } }),
    '23:6 models.small.calibration.promise.errors expected less than 1',
  ],
  [wrong({ dashboardUrl: 'nowhere' }), '21:2 dashboardUrl expected an address that begins with http:// or https://'],
  [
    wrong({ cors: { origins: ['https://example.org/path'] } }),
    '23:4 cors.origins.0 expected an origin such as https://example.org',
  ],
  [wrong({ operators: 'default' }), '21:2 operators expected a list'],
  [wrong({ prices: { currency: 'dollars' } }), '22:3 prices.currency expected three capital letters such as USD'],
  [wrong({ server: { port: 70000 } }), '22:3 server.port expected 65535 or less'],
  [wrong({ server: { hots: '0.0.0.0' } }), '22:3 server.hots is not a known setting; did you mean host?'],
  [wrong({ log: { level: 'debug' } }), '3:3 log.level expected one of info, warn, error, silent'],
  [
    wrong({ surfaces: ['chat', 'consol'] }),
    `23:3 surfaces.1 expected one of ${surfaceNames.join(', ')}, or a path or a package with a slash; did you mean console?`,
  ],
  [
    wrong({ surfaces: ['./nowhere/surface.mjs'] }),
    '22:3 surfaces.0: ./nowhere/surface.mjs is not found, or a module that it imports is not',
  ],
  [
    wrong({ trustedProxies: ['10.0.0.0/40'] }),
    '22:3 trustedProxies.0 expected an address or a range such as 10.0.0.0/8',
  ],
  [
    wrong({ providers: { House: house } }),
    '6:3 providers.House expected a name of lower-case letters, digits and dashes',
  ],
  [wrong({ providers: { house: { baseUrl: house.baseUrl } } }), '6:3 providers.house.use is missing'],
  [
    wrong({ providers: { house: { ...house, use: 'vlm' } } }),
    '6:3 providers.house: there is no vlm in providers, only anthropic, azure, bedrock, cohere, deepgram, deepseek, fireworks, flite, gemini, groq, llama, mistral, ollama, openai, openrouter, rehearsal, sealed, sglang, together, typesafe, use-lite, vertex, vllm, xai; did you mean vllm?',
  ],
  [
    wrong({ providers: { house: { ...house, use: './nowhere.mjs' } } }),
    '6:3 providers.house: ./nowhere.mjs is not found, or a module that it imports is not',
  ],
  [inHouse({ apikey: 'x' }), '9:4 providers.house.apikey is not a known setting; did you mean apiKey?'],
  [
    inHouse({ baseUrl: 'inference.example.com' }),
    '8:4 providers.house.baseUrl expected an address that begins with http:// or https://',
  ],
  [inHouse({ apiKey: 7 }), '9:4 providers.house.apiKey expected a text'],
  [
    inHouse({ type: 'CHATS' }),
    '9:4 providers.house.type expected one of CHAT, EMBEDDING, AUDIO_TRANSCRIPTION; did you mean CHAT?',
  ],
  [inHouse({ apiKey: '$NOWHERE_SET' }), '9:4 providers.house.apiKey: $NOWHERE_SET is not set'],
  [
    inHouse({ baseUrl: 'http://$HOUSE_NAME:8000/v1' }),
    '8:4 providers.house.baseUrl: $HOUSE_NAME inside a text stays as it is written; put the whole text into a variable, as "$NAME"',
  ],
  [
    inHouse({ evidence: { kind: 'nvidia', policy: {} } }),
    '10:5 providers.house.evidence.kind: there is no nvidia in backend-evidence, only attested-tls, dstack, near, tinfoil',
  ],
  [
    inHouse({ baseUrl: 'https://house.example.com/v1', evidence: { kind: 'nowhere', policy: {} } }),
    '10:5 providers.house.evidence.kind: there is no nowhere in backend-evidence, only attested-tls, dstack, near, tinfoil',
  ],
  [
    inHouse({ baseUrl: 'https://house.example.com/v1', evidence: { policy: {} } }),
    '9:4 providers.house.evidence.kind is missing',
  ],
  [
    wrong({ providers: { house, open: { use: 'openai', apiKey: 'x', apiKy: 'y' } } }),
    '13:4 providers.open.apiKy is not a known setting; did you mean apiKey?',
  ],
  [
    wrong({ providers: { house, open: { use: 'openai', apiKey: 'x', api: 'y' } } }),
    '13:4 providers.open.api expected one of responses, chat, auto or an object',
  ],
  [
    wrong({ providers: { house, claude: { use: 'anthropic' } } }),
    '10:3 providers.claude: expected apiKey, or passCallerKey',
  ],
  [
    wrong({ providers: { house, clouds: { use: 'bedrock', region: 'EU west', apiKey: 'x' } } }),
    '12:4 providers.clouds.region expected a region such as eu-central-1',
  ],
  [wrong({ models: { small: {} } }), '12:3 models.small.upstreams is missing'],
  [inModel({ upstreams: [] }), '13:4 models.small.upstreams expected 1 or more entries'],
  [
    inModel({ upstreams: [{ provider: 'hose' }] }),
    '15:6 models.small.upstreams.0.provider is not a provider; did you mean house?',
  ],
  [
    inModel({ upstreams: [{ provider: 'house', weight: 0 }] }),
    '13:4 models.small.upstreams: each has weight 0, so no backend is ever asked; give one a weight above 0',
  ],
  [
    inModel({ upstreams: [{ provider: 'house', priority: 0 }] }),
    '16:6 models.small.upstreams.0.priority expected 1 or more',
  ],
  [
    inModel({ type: 'CHATTING' }),
    '18:4 models.small.type expected one of CHAT, AUDIO_TRANSCRIPTION, AUDIO_SPEECH, IMAGE, EMBEDDING, DECISION',
  ],
  [
    inModel({ price_config: { standart: {} } }),
    '19:5 models.small.price_config.standart expected one of standard, confidential; did you mean standard?',
  ],
  [
    inModel({ price_config: { standard: { eu: { prompt_price: 1 } } } }),
    '21:7 models.small.price_config.standard.eu.prompt_price is not a known setting; did you mean prompt_price_per_k?',
  ],
  [
    inModel({ calibration: { id: 'a b', temperature: 1 } }),
    '19:5 models.small.calibration.id expected up to 64 letters, digits, dots and dashes',
  ],
  [inModel({ temperature: 0 }), '18:4 models.small.temperature expected more than 0'],
  [wrong({ decision: { default: 'smal' } }), '22:3 decision.default names no model of models; did you mean small?'],
  [
    wrong({ decision: { default: 'small' } }),
    '22:3 decision.default names a model that does not decide; set models.small.decide to true',
  ],
  [wrong({ decision: { escalate: { below: 2, to: 'small' } } }), '23:4 decision.escalate.below expected 1 or less'],
  [wrong({ decision: { aliases: { quick: 'tiny' } } }), '23:4 decision.aliases.quick names no model of models'],
  [
    inLimits({ key: { requestPerSecond: 5 } }),
    '23:4 limits.key.requestPerSecond is not a known setting; did you mean requestsPerSecond?',
  ],
  [inLimits({ key: { costPerMonth: -1 } }), '23:4 limits.key.costPerMonth expected more than 0'],
  [
    inLimits({ redis: 'localhost:6379' }),
    '22:3 limits.redis expected an address that begins with redis:// or rediss://',
  ],
  [
    inLimits({ redis: 'redis://:$REDIS_PASSWORD@redis:6379' }),
    '22:3 limits.redis: $REDIS_PASSWORD inside a text stays as it is written; put the whole text into a variable, as "$NAME"',
  ],
  [inLimits({ whenDown: { money: 'shut' } }), '23:4 limits.whenDown.money expected one of open, closed'],
  [inLimits({ timeZone: 'Berlin' }), '22:3 limits.timeZone expected a time zone such as Europe/Berlin'],
  [
    inLimits({ budgets: { webhook: { url: 'ftp://x', secret: `whsec_${'A'.repeat(32)}` } } }),
    '24:5 limits.budgets.webhook.url expected an http or https URL',
  ],
  [
    wrong({ organizations: { acme: { teams: { ops: { costPerYear: 1 } } } } }),
    '25:6 organizations.acme.teams.ops.costPerYear is not a known setting; did you mean costPerDay?',
  ],
  [
    wrong({
      issuers: {
        Corp: {
          issuer: 'https://login.example.com',
          audience: 'a',
          keys: 'https://login.example.com/keys',
          grants: [{ organization: 'acme' }],
        },
      },
    }),
    '22:3 issuers.Corp expected a name of lower-case letters, digits and dashes',
  ],
  [wrong({ timeouts: { total: 0 } }), '22:3 timeouts.total expected 1 or more'],
  [wrong({ routing: { retries: 9 } }), '22:3 routing.retries expected 5 or less'],
  [wrong({ routing: { hedge: {} } }), '22:3 routing.hedge.after is missing'],
  [wrong({ bodies: { chat: '32 MB' } }), '22:3 bodies.chat expected a number'],
  [wrong({ files: { quota: { bytes: 0 } } }), '23:4 files.quota.bytes expected 1 or more'],
  [
    wrong({ storage: { metadata: { use: 'postgres', url: 'mysql://x' } } }),
    '24:4 storage.metadata.url expected an address that begins with postgres://',
  ],
  [
    wrong({ storage: { metadata: { use: 'postgress', url: 'postgres://x' } } }),
    '22:3 storage.metadata: there is no postgress in storage, only fs, postgres, redis, s3, sqlite; did you mean postgres?',
  ],
  [
    wrong({ storage: { blobs: { use: 's3', bucket: 'b', accessKeyId: 'x', secretAccessKey: 'y' } } }),
    '24:4 storage.blobs.bucket expected the name of a bucket',
  ],
  [
    wrong({ storage: { metadata: { use: 'fs', folder: '/tmp/x' } } }),
    '22:3 storage.metadata: fs fits BlobStore, not MetadataStore',
  ],
  [
    wrong({ tools: { getTimes: {} } }),
    '22:3 tools.getTimes: there is no getTimes in tools, only audioDiarization, audioGenerateFromText, createFileForUser, generateImage, getDataFileContent, getFileContentOCR, getPDFContent, getPowerPointContent, getSpreadsheetContent, getTextDocumentContent, getTime, imageDescribeAndCaption, imageDescribeAndCaptionFallback, searchRag, transcribeAudioToText, transcribeAudioWithDiarization, videoDescribeAndCaption, webPageScraperTool, webSearchTool; did you mean getTime?',
  ],
  [wrong({ tools: { getTime: { zone: 'UTC' } } }), '23:4 tools.getTime.zone is not a known setting'],
  [
    wrong({ tools: { webSearchTool: { provider: 'altavista' } } }),
    '23:4 tools.webSearchTool.provider expected one of brave, searxng',
  ],
  [
    wrong({ readers: { pdfs: {} } }),
    '22:3 readers.pdfs: there is no pdfs in readers, only data, document, image, pdf, slides, spreadsheet; did you mean pdf?',
  ],
  [
    wrong({ guards: { redacts: {} } }),
    '22:3 guards.redacts: there is no redacts in guards, only redact, words; did you mean redact?',
  ],
  [wrong({ guards: { words: {} } }), '22:3 guards.words.lists is missing'],
  [wrong({ enclave: { connect: [] } }), '21:3 enclave.connect expected 1 or more entries'],
  [
    wrong({
      enclave: { connect: ['127.0.0.1:9'], tls: { ca: '/nowhere/ca.crt', cert: '/dev/null', key: '/dev/null' } },
    }),
    "25:4 enclave.tls.ca: the file can't be read (ENOENT)",
  ],
  [wrong({ enclave: { epoch: 1 } }), '21:3 enclave.epoch expected 600000 or more'],
  [wrong({ enclave: { kems: ['rsa'] } }), '22:4 enclave.kems.0 expected one of x-wing, ml-kem-768, x25519'],
  [
    wrong({ enclave: { evidence: { use: 'tmp' } } }),
    '21:3 enclave.evidence: there is no tmp in evidence, only command, dev, tsm',
  ],
  [
    wrong({ enclave: { providers: {} }, models: { small: { upstreams, confidential: true } } }),
    '13:4 models.small.upstreams: none of its providers is configured for the enclave; add one to enclave.providers',
  ],
  [wrong({ enclave: { retrieval: { model: 'vectors' } } }), '22:4 enclave.retrieval.model names no model of models'],
]
