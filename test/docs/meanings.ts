/** The words of the generated pages: what a schema can't say by itself. */
export const chapters = {
  opening: `# Configuration

Made from the code by \`npm run docs\`; the words are in \`test/docs/meanings.ts\`.

The configuration is a JSON file, which \`SEALGATE_CONFIG\` names. Comments and a comma behind the last member are allowed. \`sealgate check FILE\` shows everything that is wrong with it. Without a file the environment alone decides (below). Every key has a default
unless it says "required". Where the tables say "absent", they tell what holds when the key is not there.

* A string that consists of nothing but \`$NAME\` is replaced by the value of that environment variable, which stays a string. If the variable is not set, the gateway does not start.
* An unknown key, a wrong value, and a plugin that is missing or does not fit end the start, too. The message has the path and what was expected, never the value.
* \`use\` names a plugin. A plain name is one of the plugins that come with sealgate ([plugins.md](plugins.md)). A name with a slash is a package, or a path from the working folder. The other keys beside \`use\` are the settings of that plugin, which checks them itself.
* Times are in ms, sizes in bytes.
* A running gateway reads the file again when it is told to ([operations.md](operations.md#reloading)).

<!-- checked as configuration -->
\`\`\`json
{
  "env": "production",
  "providers": {
    "main": { "use": "openai", "apiKey": "$OPENAI_API_KEY" },
    "house": { "use": "vllm", "baseUrl": "http://10.0.0.5:8000/v1" }
  },
  "models": {
    "small": {
      "decide": true,
      "upstreams": [
        { "provider": "house", "model": "Qwen/Qwen3-8B", "priority": 1 },
        { "provider": "main", "model": "gpt-4.1-mini", "priority": 2 }
      ]
    }
  },
  "decision": { "default": "small" },
  "limits": { "redis": "$REDIS_URL", "key": { "requestsPerSecond": 20, "tokensPerDay": 5000000 } },
  "enclave": { "evidence": { "use": "tsm" } }
}
\`\`\``,
  surroundings: `\`HOST\`, \`PORT\` and \`SEALGATE_LOG\` override the file. Without a file there are the providers \`rehearsal\` and \`use-lite\`, which need neither
an account nor a network, and whatever these variables add:`,
} as const

export const variables: Readonly<Record<string, string>> = {
  SEALGATE_CONFIG: 'The configuration file.',
  SEALGATE_DATA: 'The folder of the embedded stores, made when it is not there; `./data` when absent.',
  SEALGATE_KEY:
    'An API key that shall be valid, with every scope, in the organisation `default`. Without it the first start makes a key. A terminal shows it once; otherwise it stands in the file `first-key` of `SEALGATE_DATA`, for its owner alone.',
  SEALGATE_LOG: 'The same as `log.level`.',
  HOST: 'The same as `server.host`.',
  PORT: 'The same as `server.port`; 0 takes any free port.',
}

const limits = (whose: string): Readonly<Record<string, string>> => ({
  requestsPerSecond: `Requests per second of ${whose}. Here and in the keys below null means no limit.`,
  bytesPerMinute: 'Bytes of request bodies in a minute. A refused body counts too.',
  concurrentRequests: 'Requests under way at once.',
  tokensPerMinute: 'Tokens read and written. An estimate is taken before a call and corrected after it.',
  tokensPerDay: 'The same, over a day (`limits.days`).',
  audioMinutesPerDay: 'Minutes of audio that are transcribed in a day.',
  costPerDay: 'What calls may cost in a day, in the currency of the prices (`limits.budgets`). The most that a call may cost is taken before it and corrected after it.',
  costPerWeek: 'The same in a week.',
  costPerMonth: 'The same in a month.',
})

const under = (path: string, meanings: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(meanings).map(([key, meaning]) => [`${path}.${key}`, meaning]))

export const meanings: Readonly<Record<string, string>> = {
  $schema: 'Where editors find the schema of this file: `./node_modules/sealgate/docs/config.schema.json`.',
  env: 'Every envelope tells it. In `production`, keys that begin with `sk_test_` are refused.',
  'names.compat': 'The first path segment of the decision routes.',
  'names.std': 'The first path segment of the standard routes.',
  'names.v1': 'The first path segment of the routes for clients of the public dialects.',
  prefix: 'The path under which the gateway is mounted, with a slash at its beginning and none at its end. Paths without it are served too.',
  surfaces:
    'Which chapters of the interface (`decision`, `chat`, `rvenc`, `tools`, `files`, `index`, `admin`, `console`) and which surfaces are served: `v1` with `gemini`, `mcp`, and the path or the package of an own surface ([adding-a-surface.md](adding-a-surface.md)). An own surface with settings is an object with `use`. All when absent; health checks always are.',
  'console.session':
    'How many ms a session of the console lasts at most; a day is the longest ([console.md](console.md#signing-in)).',
  'console.idle': 'After how many ms a session of the console ends that nobody uses.',
  dashboardUrl: 'Where people make keys. It is only shown in `/openapi.json`.',
  issuers:
    'Issuers of access tokens, by a name of yours: people call with a token of theirs in the place of a key ([operations.md](operations.md#people-by-their-own-login)).',
  'issuers.<name>.issuer': '`iss` of its tokens, to the letter.',
  'issuers.<name>.keys':
    'Where its public keys are (`jwks_uri` of the issuer): an https URL, or an http URL of this machine.',
  'issuers.<name>.audience': 'What `aud` of a token has: the name of your API at the issuer, never the id of a client.',
  'issuers.<name>.algorithms': 'Algorithms by which its tokens may be signed.',
  'issuers.<name>.types':
    'What `typ` in the head of a token may be. Issuers whose access tokens are `JWT` need that here; an empty one stands for a token without it.',
  'issuers.<name>.skew': 'By how much its clock and ours may differ.',
  'issuers.<name>.lifetime': 'The longest time from `iat` to `exp` of a token.',
  'issuers.<name>.user.claim': 'The claim that names the user, by its name or by its path with dots.',
  'issuers.<name>.user.prefix':
    'What stands before that claim in the name of the user; absent, the name of the issuer and a dot. Empty only where nobody chooses the claim.',
  'issuers.<name>.login':
    'How readers of the console log in at the issuer; absent where they don’t ([console.md](console.md#signing-in)).',
  'issuers.<name>.login.client': 'The id of the console as a client of the issuer ([console.md](console.md#signing-in)).',
  'issuers.<name>.login.secret':
    'The secret of that client, as `$NAME` alone: a file with the secret itself is refused. Absent for a public client.',
  'issuers.<name>.login.authorize': 'Where a login begins: an https URL, or an http URL of this machine.',
  'issuers.<name>.login.token': 'Where the gateway exchanges codes: an https URL, or an http URL of this machine.',
  'issuers.<name>.login.redirect':
    'Where the issuer sends readers back, to the letter: the address of the console as browsers know it, which ends with `/console`.',
  'issuers.<name>.login.scope': 'What a login asks for; `openid` is among it.',
  'issuers.<name>.login.parameters':
    'What the issuer wants to be told beside it in both requests, such as `resource` or `audience`, so that its token is for this gateway.',
  'issuers.<name>.scopes':
    'The claim that lists scopes, such as `scope`: a person has those of the grant that it lists, too. Absent, those of the grant.',
  'issuers.<name>.grants': 'What people get: the first grant that fits decides, and a token that none fits is refused.',
  'issuers.<name>.grants[].when':
    'By claim: the value that it has to be, or to have in its list. A claim is named as above. Empty, every token of the issuer fits.',
  'issuers.<name>.grants[].organization': 'The organisation of these people.',
  'issuers.<name>.grants[].team': 'Their team, if any.',
  'issuers.<name>.grants[].scopes': 'Their scopes; absent, those of a plain key: chat, tools and their own files.',
  'issuers.<name>.grants[].models': 'The models that they may use; null for all.',
  ...under('issuers.<name>.grants[].limits', limits('each of these people')),
  'betas.refused':
    'Values of `anthropic-beta` that are refused by their name; `computer-use-*` stands for all that begin so.',
  'models.<name>.decide.with': 'Of a rule: the model that decides which kind a chat is.',
  'models.<name>.decide.instructions': 'The question that the model answers.',
  'models.<name>.decide.criteria': 'What each kind means.',
  'models.<name>.decide.below': 'The confidence below which `otherwise` serves.',
  'models.<name>.decide.patience': 'Milliseconds that the decision may take; `otherwise` serves after that.',
  'models.<name>.routes': 'Of a rule, which is known by them: the models of kinds. The first route of a kind counts.',
  'models.<name>.routes[].when': 'A kind of `criteria`, or `vision` or `long`, which the chat itself shows.',
  'models.<name>.routes[].model': 'The model that serves chats of this kind.',
  'models.<name>.otherwise': 'The model where nothing is decided, and where a budget has no room for another. Absent: the model of the last route.',
  'models.<name>.long': 'Tokens of a prompt from which a chat is `long`.',
  'sockets.most': 'WebSockets at `/v1/responses` that one key may have open at once.',
  'sockets.idle': 'Milliseconds without a turn after which a WebSocket ends.',
  'sockets.life': 'Milliseconds that a WebSocket lives at most; a turn that plays ends first.',
  'sockets.ping': 'Milliseconds between two pings of a WebSocket. A peer that answers none until the next one is cut.',
  'keepsakes.secret':
    'Seals what callers keep between turns on the `v1` routes, such as signed reasoning. Replicas need the same one; absent, each start makes its own, which workers share. At least 32 characters.',
  'quotas.windows':
    'Windows of the calendar that hold beside `limits`, all at once: each row gives one amount to one holder ([operations.md](operations.md#windows)).',
  'quotas.windows[].of':
    'Who shares the amount: each end user (`user`, `safety_identifier` or `metadata.user_id` of a request), each key, each team, each organisation, or all callers (`gateway`).',
  'quotas.windows[].key': 'The id of the only key that it holds for.',
  'quotas.windows[].model': 'The only model that it holds for. Sealed calls name their model inside, so it does not hold for them.',
  'quotas.windows[].requests': 'Calls of models in the window.',
  'quotas.windows[].tokens': 'Tokens read and written in the window.',
  'quotas.windows[].cost': 'What calls in the window may cost, in the currency of the prices. A row has one of these three.',
  'quotas.windows[].per':
    'The length of the window. Minutes and hours are those of UTC; days, weeks from Monday and months those of `limits.timeZone`.',
  'quotas.userSecret':
    'What names of end users are hashed with before they are counted: at least 32 characters, the same for all processes. Windows of `endUser` need it.',
  'metrics.keys': 'Whether `/metrics` tells tokens and costs by the id of each key, the first 200 by name.',
  'metrics.tags': 'Names of tags of `x-sealgate-tags` by whose values `/metrics` tells tokens and costs, the first 200 by name. Callers write these values.',
  testKeys: 'Whether `sk_test_` keys are accepted; absent, only in `development`.',
  'cors.origins':
    'Origins whose pages may call with a key of their own, to the letter; never `*`. Administration, the console and metrics stay closed.',
  'mcp.url':
    'Where agents find `/mcp` from outside, such as `https://ai.example.org/mcp`. Its host is served beside addresses and the names of this machine, and its metadata (RFC 9728) is given.',
  'mcp.search':
    'Whether the two tools `findTools` and `callTool` stand for all tools of `mcp.servers`; otherwise each is listed by its own schema.',
  'mcp.servers':
    'Servers of the Model Context Protocol whose tools `/mcp` offers ([mcp.md](mcp.md#tools-of-other-servers)), by the name that stands in front of each tool: `tracker__create_issue`. Each has either `url` or `command`.',
  'mcp.servers.<name>.url': 'Where the server takes messages, by streamable HTTP. A redirect is not followed.',
  'mcp.servers.<name>.headers': 'Headers of each request to `url`, such as `{ "authorization": "$TRACKER_TOKEN" }`.',
  'mcp.servers.<name>.command': 'A program of this machine that speaks the protocol on standard input and output. Each key has a process of its own.',
  'mcp.servers.<name>.args': 'The arguments of the program.',
  'mcp.servers.<name>.env': 'All that the program finds in its environment, beside `PATH`.',
  'mcp.servers.<name>.network': 'Whether the program has a network.',
  'mcp.servers.<name>.tools': 'The tools that are offered, by the names of the server; absent, all.',
  'mcp.servers.<name>.organizations': 'The organisations whose keys may use the server; absent, all.',
  'mcp.servers.<name>.price': 'The price of a call, in the currency of `prices.currency`. A call counts in usage as the model `mcp/<name>`.',
  'mcp.servers.<name>.timeout': 'Milliseconds for an answer.',
  'mcp.servers.<name>.pin': 'Whether a tool that differs from the first list since the configuration was read is withheld.',
  trustedProxies: 'Addresses and CIDR ranges whose `X-Forwarded-For` is believed when a key is bound to addresses.',
  operators: 'Organisations whose keys may reach what concerns all of them: `/metrics`, and `POST /admin/reload`.',
  models:
    'The models, by the name that callers send. When empty: every model that the providers list, under its own name or as `provider/name`; the lists are asked for again after a minute.',
  'models.<name>.type': 'Decides which route serves it.',
  'models.<name>.id': 'The number in the catalog; absent, the first 48 bits of SHA-256 of the name.',
  'models.<name>.name': 'The name that people read; absent, the name that callers send.',
  'models.<name>.description': 'For the catalog.',
  'models.<name>.created': 'Unix time in seconds, for the catalog; 0 stands for the start of the gateway.',
  'models.<name>.owned_by': 'For the catalog; absent, the first provider.',
  'models.<name>.serverTools':
    'Tools that a vendor runs, such as its web search: `pass` gives them to backends of the caller’s dialect, `refuse` refuses such requests, `drop` leaves the tools out and tells them. Absent, a tool that the request forces is refused, and others are left out and told.',
  'models.<name>.input_modalities': 'For the catalog; absent, `["audio"]` for transcription and `["text"]` otherwise. A chat model that has it refuses images and videos that it does not name.',
  'models.<name>.standard': 'Served in the clear on the standard and decision routes.',
  'models.<name>.confidential': 'Served on the sealed routes, by the enclave’s own providers.',
  'models.<name>.decide':
    'Lets a chat model answer typed decisions too, by its log-probabilities. Not needed where the backend itself can answer decisions.',
  'models.<name>.continues':
    'Says that every backend of the model can continue a given beginning, so that another one may finish a stream that breaks.',
  'models.<name>.temperature': 'Log-probabilities are divided by it before decisions are read from them.',
  'models.<name>.calibration':
    'Made by `sealgate calibrate`: the logarithms of a decision’s probabilities are divided by a temperature before callers get them. Absent, they are as the model gives them.',
  'models.<name>.calibration.id': 'What diagnostics call the calibration that answered.',
  'models.<name>.calibration.temperature': 'For numbers of options that `byOptions` leaves out.',
  'models.<name>.calibration.promise':
    'What answers may be acted on: those of at least `confidence` are wrong at most at the share `errors`, as surely as `certainty`. Absent, each answer advises to ask.',
  'models.<name>.calibration.promise.confidence': 'The least confidence of an answer that advises to act.',
  'models.<name>.calibration.promise.errors': 'The most that may be wrong of them.',
  'models.<name>.calibration.promise.certainty': 'How surely that holds.',
  'models.<name>.calibration.byOptions': 'The temperature by the number of options, from `2` to `26`.',
  'models.<name>.context_tokens':
    'Tokens of a prompt and its answer that its backends hold. Backends that cannot hold a prompt are passed over.',
  'models.<name>.regions': 'For the catalog; the price of the first region that has one counts.',
  'models.<name>.price_config': 'Prices in the operator’s currency. A price that is absent is unknown, not 0.',
  'models.<name>.price_config.<standard or confidential>.<name>.prompt_price_per_k':
    'The price of a thousand tokens read.',
  'models.<name>.price_config.<standard or confidential>.<name>.completion_price_per_k':
    'The price of a thousand tokens written.',
  'models.<name>.price_config.<standard or confidential>.<name>.reasoning_price_per_k':
    'The price of a thousand tokens of reasoning; absent, that of those written.',
  'models.<name>.price_config.<standard or confidential>.<name>.cached_price_per_k':
    'The price of a thousand tokens read from the prompt cache of the backend; absent, that of those read.',
  'models.<name>.price_config.<standard or confidential>.<name>.cache_write_price_per_k':
    'The price of a thousand tokens written to that cache for five minutes; absent, that of those read.',
  'models.<name>.price_config.<standard or confidential>.<name>.cache_write_1h_price_per_k':
    'The same for an hour; absent, as for five minutes.',
  'models.<name>.price_config.<standard or confidential>.<name>.audio_prompt_price_per_k':
    'The price of a thousand tokens of sound that are heard; absent, that of those read.',
  'models.<name>.price_config.<standard or confidential>.<name>.audio_completion_price_per_k':
    'The price of a thousand tokens of sound that are made; absent, that of those written.',
  'models.<name>.price_config.<standard or confidential>.<name>.character_price_per_k':
    'The price of a thousand characters that are spoken; absent, the text is charged by its tokens.',
  'models.<name>.price_config.<standard or confidential>.<name>.audio_price_per_min': 'The price of a minute of audio.',
  'models.<name>.price_config.<standard or confidential>.<name>.image_price': 'The price of an image.',
  'models.<name>.price_config.<standard or confidential>.<name>.batch_factor':
    'The number by which a batch multiplies these prices; 1 when absent.',
  'models.<name>.price_config.<standard or confidential>.<name>.request_price':
    'The price of a request, beside all else; absent, none.',
  'prices.currency':
    'The currency of all prices, such as `EUR`. The table that ships with sealgate is in US dollars: it counts for models without a `price_config` where this is `USD`, or where this is absent and no model has a `price_config`.',
  'models.<name>.upstreams': 'The backends that serve it.',
  'models.<name>.upstreams[].provider': 'A key of `providers`.',
  'models.<name>.upstreams[].model': 'The name that the backend has for the model; absent, the name that callers send.',
  'models.<name>.upstreams[].context_tokens': 'The same of this backend, where it differs.',
  'models.<name>.upstreams[].weight': 'Its share of the calls among backends of the same priority.',
  'models.<name>.upstreams[].priority': 'Backends with 1 are asked first.',
  'decision.default':
    'What `jev-latest`, the stock client’s own default, stands for; absent, the first model that decides.',
  'decision.aliases': 'Other names of decision models.',
  'decision.places': 'How many decisions one key may ask for at once; more are answered with 429.',
  'decision.escalate': 'Asks a larger model again about answers with little confidence.',
  'decision.escalate.below': 'The confidence below which it is asked.',
  'decision.escalate.to': 'The larger model.',
  'decision.escalate.most':
    'How many models a request asks one after the other, the first left out. The rule for the next one is that of `escalateFrom`.',
  'decision.escalateFrom': 'The same by the model that is not sure, in place of `escalate`.',
  'decision.escalateFrom.<name>.below': 'The confidence below which the larger model is asked.',
  'decision.escalateFrom.<name>.to': 'The larger model.',
  'decision.escalateFrom.<name>.most': 'How many models a request asks one after the other.',
  ...under('limits.key', limits('one key; limits of the key itself override these')),
  ...under('limits.organization', limits('all keys of one organisation')),
  organizations: 'By the name of an organisation: its own values in place of `limits.organization` and `files.quota`.',
  ...under('organizations.<name>.limits', limits('this organisation; absent, as in `limits.organization`')),
  'organizations.<name>.quota.bytes': 'Sealed bytes that it may have stored; absent, as in `files.quota`.',
  'organizations.<name>.quota.files': 'Files that it may have stored.',
  'organizations.<name>.teams':
    'Its teams, by name. Keys that are made over the network are given no others; what a team does not say here is as in `limits.team`.',
  'organizations.<name>.teams.<name>.costPerDay': 'What the keys of this team together may cost in a day.',
  'organizations.<name>.teams.<name>.costPerWeek': 'The same in a week.',
  'organizations.<name>.teams.<name>.costPerMonth': 'The same in a month.',
  'limits.sealedStreams': 'Sealed chat streams that a key may have open at once.',
  'limits.keyless.requestsPerSecond':
    'Requests a second from one address to one process that show no valid key: pages, unknown paths, refused keys. null means no limit.',
  'limits.team.costPerDay': 'What the keys of a team together may cost in a day; null means no budget.',
  'limits.team.costPerWeek': 'The same in a week.',
  'limits.team.costPerMonth': 'The same in a month.',
  'limits.gateway.costPerDay': 'What all keys together may cost in a day; null means no budget.',
  'limits.gateway.costPerWeek': 'The same in a week.',
  'limits.gateway.costPerMonth': 'The same in a month.',
  'limits.budgets.window':
    'What kind of days, weeks and months the budgets have: those of the calendar in `limits.timeZone`, with weeks from Monday; or `rolling`, which refill evenly over 1, 7 and 30 days.',
  'limits.budgets.soft': 'Whose budgets refuse nothing and only warn.',
  'limits.budgets.webhook': 'Who is told when a budget reaches 50, 80 or 100 % ([operations.md](operations.md#webhooks)).',
  'limits.budgets.webhook.url':
    'Where messages are posted, through the door for foreign hosts: a private address or another port takes `outside`.',
  'limits.budgets.webhook.secret': 'What signs them: `whsec_` and 24 to 64 random bytes in base64.',
  'limits.budgets.unknownPrice':
    'What happens with a call of a model without a price where a budget holds: `refuse` is a 403, `count` lets it pass and counts it under `unpriced`.',
  'limits.days':
    'What kind of day `tokensPerDay` and `audioMinutesPerDay` mean. `rolling` refills evenly, so that a whole allowance is there again a day after it was used up; `calendar` is whole again at midnight and refills by nothing until then.',
  'limits.cachedTokens':
    'Whether tokens that the prompt cache of a backend held count against `tokensPerMinute` and `tokensPerDay`. They cost what their price says either way.',
  'limits.timeZone': 'Whose midnight that is, such as `Europe/Berlin`.',
  'limits.patience':
    'When Redis has not answered for this long, it counts as down. This is also the most time that it can add to a request. Choose a longer one where gateways share a busy machine.',
  'limits.redis':
    'The URL of a Redis that all processes share for limits and cache; absent, each process counts for itself.',
  'limits.whenDown.places':
    'For places, while Redis is down: `closed` refuses requests with 503, `open` lets them pass uncounted. Absent: closed.',
  'limits.whenDown.tokens': 'The same for tokens and audio. Absent: closed.',
  'limits.whenDown.money': 'The same for budgets. Absent: closed.',
  'limits.whenDown.requests': 'The same for requests a second. Absent: open.',
  'timeouts.total': 'One deadline over all attempts. A stream that has begun may outlive it.',
  'timeouts.firstToken': 'How long one attempt at a stream may take until its first token; of a sealed stream the last backend has what is left of `timeouts.sealedIdle`.',
  'timeouts.idle': 'The longest pause between two chunks of a backend.',
  'timeouts.sealedIdle': 'The longest silence of a sealed stream, before its first token and after it.',
  'timeouts.stream': 'The longest time that a stream may run.',
  'timeouts.stalled':
    'A reader that takes nothing of an answer, whole or as events, for this long while bytes wait for it is cut off.',
  'timeouts.revoked': 'How long an answer may go on after its key was revoked or ran out; then its connection is cut.',
  'timeouts.heartbeat': 'The time between signs of life while the first token is awaited.',
  'timeouts.decision': 'The deadline of a decision. The stock client gives up after 10 seconds.',
  'routing.retries': 'Attempts after the first; each backend of a model is asked once in any case.',
  'routing.breaker.faults': 'After this many faults in a row, a model of a backend is left alone for a while.',
  'routing.breaker.ratio':
    'It is also left alone when more than this share of its last 20 calls failed, of at least 10.',
  'routing.breaker.rest': 'How long it is left alone before one call tries it again.',
  'routing.hedge': 'Asks a second backend when the first is silent; with null this never happens.',
  'routing.hedge.after': 'The silence after which the second is asked.',
  'routing.hedge.share': 'The share of calls that may be asked twice.',
  'routing.promptCaches':
    'Who shares the part of a backend’s prompt cache that callers name alike (`prompt_cache_key`, `cache_salt`): the keys of one organisation, or all.',
  'routing.straight':
    'Chats in which nothing unusual is met are answered by one object; with false each step is a function of its own, which costs three times as much and gives the same answers.',
  'bodies.chat': 'The size of a chat or embedding request.',
  'bodies.audio': 'The size of a form with an audio file.',
  'bodies.file': 'The size of a stored file, decoded.',
  'bodies.elements': 'Values and containers in the JSON of one body.',
  'bodies.members': 'Members of one object in the JSON of a body. The body itself may have 256.',
  'bodies.time.key':
    'Milliseconds of work in a second on bodies of one key, after which its next body waits behind those of others.',
  'bodies.time.organization': 'The same for all keys of an organisation.',
  'bodies.inMemory.key':
    'Bytes of bodies of one key that stand in the memory of a process. A key that holds none may have one body of any length.',
  'bodies.inMemory.organization': 'The same for all keys of an organisation.',
  'bodies.inMemory.process': 'The same for all callers.',
  'bodies.leastRate':
    'Bytes a second that a body needs on its way in. A sender that kept this rate in none of five spans of three seconds is too slow, and gets a 408.',
  'connections.most': 'Connections that a process holds at once.',
  'connections.keyless':
    'Connections of one address that have shown no valid key yet. Addresses of `trustedProxies` have no such bound.',
  'connections.head':
    'The time in which the head of a request must be there; a later one is refused and its connection closed.',
  'connections.chunks':
    'Who frames the chunks of a stream: `own` writes each event at once, `node` leaves it to Node, which takes more CPU. Node also frames where other code wraps the response.',
  'files.quota.bytes': 'Sealed bytes that an organisation may have stored; null for no limit.',
  'files.quota.files': 'Files that it may have stored.',
  'files.incognito': 'How long an incognito file is kept.',
  'files.link': 'How long a link to the store works.',
  'files.sweep': 'The time between two sweeps of a process, give or take half.',
  'files.grace': 'How old bytes without a record must be to be removed. It must be longer than any upload may take.',
  'files.indexing':
    'How long the indexing of one file may take. A record that would say `running` for longer says `failed`.',
  'server.host': 'The address to listen on.',
  'server.port': 'The port; 0 takes any free one.',
  'server.linger':
    'How long new connections are still accepted after SIGTERM, so that a load balancer has time to notice and send them elsewhere.',
  'server.drain': 'The time that running requests get to end after SIGTERM or SIGINT.',
  'log.level': 'From which level on events are logged; `info` has a line for every request.',
  'outside.ports': 'The ports that may be reached at addresses that a user or a model names.',
  'outside.bytes': 'The largest body from there, decompressed.',
  'outside.time': 'The longest time from the call to the end of the body.',
  'outside.allow': 'Host names, addresses and CIDR ranges that may be reached although they are private.',
  providers:
    'The providers, by the name that a request may ask for with `provider`: `[a-z0-9-]`, 64 characters at most.',
  'providers.<name>.use': 'A plugin of the family `providers`.',
  'providers.<name>.evidence': 'What the backend must prove before it gets a request ([evidence.md](evidence.md#verified-backends)); `baseUrl` is then an https URL. Absent: nothing.',
  'providers.<name>.evidence.kind': 'The form of the evidence: a plugin of the family `backend-evidence`.',
  'providers.<name>.evidence.policy': 'The demands on the backend’s platform, as a client’s policy states them ([evidence.md](evidence.md#the-policy)).',
  'providers.<name>.evidence.certificate': '`authority`: the certificate is verified too. `any`: the evidence alone proves the key, and the certificate may be self-signed.',
  'providers.<name>.evidence.renew': 'The age at which evidence is asked for anew. It counts for twice as long at most.',
  'providers.<name>.evidence.timeout': 'The longest wait for the document.',
  'providers.<name>.evidence.collateral.amd': 'AMD’s key service, for evidence of a service without certificates.',
  'providers.<name>.evidence.collateral.intel': 'Intel’s service of platform data, for the same.',
  'providers.<name>.evidence.collateral.intelRootList': 'The revocation list of Intel’s root.',
  'providers.<name>.evidence.collateral.folder': 'A folder with the same pieces; then no service is asked.',
  'storage.blobs': 'Absent: `{"use": "fs"}` under `SEALGATE_DATA`.',
  'storage.blobs.use': 'A plugin of the family `storage` that fits `BlobStore`.',
  'storage.metadata': 'Absent: `{"use": "sqlite"}` under `SEALGATE_DATA`.',
  'storage.metadata.use': 'A plugin of the family `storage` that fits `MetadataStore`.',
  'enclave.retrieval.model':
    'The embedding model for indexing and search; absent, search goes by words alone. Name a model that is better than words on your files: the offline one is not.',
  'enclave.retrieval.cache': 'Bytes of opened indexes that are kept in memory.',
  'enclave.queue.all': 'Jobs of all organisations that may wait; indexing has eight times as many places.',
  'enclave.queue.organization': 'Jobs of one organisation that may wait; indexing has sixteen times as many places.',
  'enclave.openBytes':
    'Bytes of files that are open at once. An organisation holds at most half of them, a key a quarter, and each at least one file.',
  'enclave.epoch': 'How long clients may seal to one key.',
  'enclave.kems': 'The key agreements that are accepted.',
  'enclave.requireBinding': 'Whether sealed JSON that does not name its route is refused.',
  'enclave.connect':
    'The confidential processes to use: paths of unix sockets, or `host:port` with `tls`. Absent: the gateway starts one itself.',
  'enclave.listen': 'Where `sealgate enclave` listens: the path of a unix socket, or `host:port` with `tls`.',
  'enclave.tls': 'Certificates by which both sides prove to each other who they are; not for unix sockets.',
  'enclave.tls.ca': 'File with the certificate of whoever signs that of the other side.',
  'enclave.tls.cert': 'File with the certificate of this side.',
  'enclave.tls.key': 'File with the key of that certificate.',
  'enclave.providers': 'The enclave’s own providers; absent, those of the gateway.',
  'enclave.providers.<name>.use': 'A plugin of the family `providers`.',
  'enclave.providers.<name>.evidence': 'What the backend must prove before it gets a request ([evidence.md](evidence.md#verified-backends)); `baseUrl` is then an https URL. Absent: nothing.',
  'enclave.providers.<name>.evidence.kind': 'The form of the evidence: a plugin of the family `backend-evidence`.',
  'enclave.providers.<name>.evidence.policy': 'The demands on the backend’s platform, as a client’s policy states them ([evidence.md](evidence.md#the-policy)).',
  'enclave.providers.<name>.evidence.certificate': '`authority`: the certificate is verified too. `any`: the evidence alone proves the key, and the certificate may be self-signed.',
  'enclave.providers.<name>.evidence.renew': 'The age at which evidence is asked for anew. It counts for twice as long at most.',
  'enclave.providers.<name>.evidence.timeout': 'The longest wait for the document.',
  'enclave.providers.<name>.evidence.collateral.amd': 'AMD’s key service, for evidence of a service without certificates.',
  'enclave.providers.<name>.evidence.collateral.intel': 'Intel’s service of platform data, for the same.',
  'enclave.providers.<name>.evidence.collateral.intelRootList': 'The revocation list of Intel’s root.',
  'enclave.providers.<name>.evidence.collateral.folder': 'A folder with the same pieces; then no service is asked.',
  'enclave.evidence': 'What proves where the enclave runs. Absent: `{"use": "dev"}`, which proves nothing.',
  'enclave.evidence.use': 'A plugin of the family `evidence`.',
  'enclave.collateral':
    'Where the gateway finds certificates, revocation lists and platform data, which it lays beside the evidence ([evidence.md](evidence.md#what-the-gateway-lays-beside)).',
  'enclave.collateral.amd': 'AMD’s key service, or a cache of it.',
  'enclave.collateral.intel': 'Intel’s service of platform data, or a cache of it.',
  'enclave.collateral.intelRootList': 'The revocation list of Intel’s root.',
  'enclave.collateral.folder': 'A folder with the same pieces; then no service is asked.',
  'enclave.releases': 'A file with the signed list of releases, served at `GET /rvenc/releases`; its signatures are beside it as `.sig`.',
  'enclave.notices': 'A file with signed notices, served there too; its signatures are beside it as `.sig`.',
  'enclave.allowDev': 'Whether `dev` evidence is served with `env: "production"`; without it the start is refused.',
  tools: 'The tools that are offered, by the names of their plugins, and no others; absent, all that are found.',
  'tools.<name>': 'The settings of that tool; `{}` when it has none.',
  readers:
    'The readers of files, by the names of their plugins and in the order in which they are asked; absent, all that are found.',
  'readers.<name>': 'The settings of that reader; `{}` when it has none.',
  guards:
    'Guards of chats in the clear, by the names of their plugins. Requests pass them in this order, answers in reverse ([guards.md](guards.md)).',
  'guards.<name>': 'The settings of that guard; `{}` when it has none.',
  'enclave.guards': 'Guards of sealed chats, inside the enclave; the release digest binds them.',
  'enclave.guards.<name>': 'The settings of that guard; `{}` when it has none.',
}

export const families = {
  opening: `# Plugins

Made from the code by \`npm run docs\`: descriptions and meanings are the comments in the plugins’ own files, or else the words in \`test/docs\`.

A plugin is one file that fits one port, and has the name of the file. "Needs" are the ports that it uses.`,
  each: {
    tools:
      'Tools work for callers inside the enclave. All tools that are found are offered, unless the configuration lists some under `tools`.',
    surfaces:
      'Doors beyond the interface’s own chapters ([adding-a-surface.md](adding-a-surface.md)). All that are found are served, unless the configuration lists some under `surfaces`.',
    readers:
      'Tools and indexing read files with readers, inside the enclave. Each reader reads one kind of file. All readers that are found are used, unless the configuration lists some under `readers`.',
    providers: `Backends. Each is one key under \`providers\`; two keys with the same \`use\` are two backends. The abilities
of a provider depend on its settings; the list here is for the default ones.`,
    storage:
      'Where rows (`MetadataStore`) and bytes (`BlobStore`) are kept: one of each, under `storage.metadata` and `storage.blobs`.',
    guards:
      'Policies on the texts of chats ([guards.md](guards.md)). The configuration lists them under `guards` and `enclave.guards`; without it there are none.',
    evidence: 'Evidence proves where an enclave runs ([wire.md](wire.md#6-keys-and-evidence)).',
    'backend-evidence':
      'Evidence proves where a backend’s TLS key lives ([evidence.md](evidence.md#verified-backends)). Each is the `kind` of an upstream’s `evidence`.',
  },
} as const

/** Of plugins that have no sentence in their own file. */
export const descriptions: Readonly<Record<string, string>> = {
  openai: 'The OpenAI API, Azure’s variant of it, and any server that speaks it.',
  openrouter: 'The API of OpenRouter.',
  anthropic: 'The Messages API of Anthropic.',
  gemini: 'The Gemini API of Google.',
  deepgram: 'Transcription by Deepgram.',
  ollama: 'A server of Ollama, by its own API.',
  vllm: 'A server of vLLM, by the API that it shares with OpenAI.',
  sglang: 'A server of SGLang, by the API that it shares with OpenAI.',
  llama: 'A language model from a GGUF file, in this process; needs the package node-llama-cpp.',
  typesafe: 'Decisions by TypeSafe’s System-One API.',
  sealed: 'The enclave of another gateway: calls are sealed before they leave this process.',
  rehearsal: 'No model at all: the same words again and again, offline, for trying things out.',
  'use-lite': 'A small model of sentence embeddings, in this process and offline: decides by likeness of words.',
  dev: 'Signs with a key that everybody knows, so it proves nothing; for development.',
}
