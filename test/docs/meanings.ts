/** The words of the generated pages: what a schema can't say by itself. */
export const chapters = {
  opening: `# Configuration

Made from the code by \`npm run docs\`; the words are in \`test/docs/meanings.ts\`.

The file is JSON; \`SEALGATE_CONFIG\` names it. Without a file the environment alone decides (below). Every key has a default
unless it says "required".

* A string that is wholly \`$NAME\` is replaced by that environment variable, and stays a string. A variable that is not set stops the boot.
* An unknown key, a wrong value, a plugin that is not there or does not fit stops the boot too. The message has the path and what was expected, never the value.
* \`use\` names a plugin: a plain name is a file of ours ([plugins.md](plugins.md)), a name with a slash is a package, or a path from the working folder. What else stands beside \`use\` is checked by that plugin.
* Times are in ms, sizes in bytes.
* A running gateway reads it again when it is told to ([operations.md](operations.md#reloading)).

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
  "limits": { "redis": "$REDIS_URL", "key": { "requestsPerSecond": 20, "tokensPerDay": 5000000 } }
}
\`\`\``,
  surroundings: `\`HOST\`, \`PORT\` and \`SEALGATE_LOG\` go before the file. Without a file the providers \`rehearsal\` and \`use-lite\`, which need neither
account nor network, are there, and what these variables bring:`,
} as const

export const variables: Readonly<Record<string, string>> = {
  SEALGATE_CONFIG: 'The configuration file.',
  SEALGATE_DATA: 'The folder of the embedded stores, made when it is not there; `./data` when absent.',
  SEALGATE_KEY:
    'An API key that is to work, with every scope in organisation `default`. Without it the first start makes one and shows it once.',
  SEALGATE_LOG: 'As `log.level`.',
  HOST: 'As `server.host`.',
  PORT: 'As `server.port`; 0 takes any free one.',
}

const limits = (whose: string): Readonly<Record<string, string>> => ({
  requestsPerSecond: `Requests of ${whose}; null for no limit, as in all of these.`,
  concurrentRequests: 'Requests under way at once.',
  tokensPerMinute: 'Tokens read and written. An estimate is taken before a call and corrected after it.',
  tokensPerDay: 'The same, over a day.',
  audioMinutesPerDay: 'Minutes of audio that are transcribed.',
})

const under = (path: string, meanings: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(meanings).map(([key, meaning]) => [`${path}.${key}`, meaning]))

export const meanings: Readonly<Record<string, string>> = {
  env: 'Stands in every envelope. In `production` keys that begin with `sk_test_` are refused.',
  'names.compat': 'The first path segment of the decision routes.',
  'names.std': 'The first path segment of the standard routes.',
  surfaces: 'Which chapters of the interface are served; health always is.',
  dashboardUrl: 'Where keys are made; only told in `/openapi.json`.',
  testKeys: 'Whether `sk_test_` keys are taken; absent, only in `development`.',
  trustedProxies: 'Addresses and CIDR ranges whose `X-Forwarded-For` is believed when a key is bound to addresses.',
  operators: 'Organisations whose keys may reach what concerns all of them: `/metrics`, and `POST /admin/reload`.',
  models:
    'By the name that callers send. Empty: every model that the providers list, under its own name or as `provider/name`; the lists are asked for again after a minute.',
  'models.<name>.type': 'Decides which route serves it.',
  'models.<name>.id': 'The number in the catalog; absent, the first 48 bits of SHA-256 of the name.',
  'models.<name>.name': 'What people read; the model’s name when absent.',
  'models.<name>.description': 'For the catalog.',
  'models.<name>.created': 'Unix time in seconds, for the catalog.',
  'models.<name>.owned_by': 'For the catalog; absent, the first provider.',
  'models.<name>.input_modalities': 'For the catalog; absent, `["audio"]` for transcription and `["text"]` otherwise.',
  'models.<name>.standard': 'Served in the clear on the standard and decision routes.',
  'models.<name>.confidential': 'Served on the sealed routes, by the enclave’s own providers.',
  'models.<name>.decide':
    'A chat model answers typed decisions too, by its log-probabilities. Not needed where the backend decides by itself.',
  'models.<name>.continues':
    'Every one of its backends goes on from a given beginning, so a stream that breaks may be finished by another.',
  'models.<name>.temperature': 'What log-probabilities are divided by before decisions are read off.',
  'models.<name>.regions': 'For the catalog; the first one that has a price sets it.',
  'models.<name>.price_config': 'Prices in the operator’s currency. A price that is absent is unknown, not 0.',
  'models.<name>.price_config.<standard or confidential>.<name>.prompt_price_per_k': 'A thousand tokens read.',
  'models.<name>.price_config.<standard or confidential>.<name>.completion_price_per_k': 'A thousand tokens written.',
  'models.<name>.price_config.<standard or confidential>.<name>.reasoning_price_per_k':
    'A thousand tokens of reasoning; absent, as those written.',
  'models.<name>.price_config.<standard or confidential>.<name>.audio_price_per_min': 'A minute of audio.',
  'models.<name>.upstreams': 'Who serves it.',
  'models.<name>.upstreams[].provider': 'A key of `providers`.',
  'models.<name>.upstreams[].model': 'The backend’s own name of the model; ours when absent.',
  'models.<name>.upstreams[].weight': 'Share among those of one priority.',
  'models.<name>.upstreams[].priority': '1 is asked first.',
  'decision.default':
    'What `jev-latest`, the stock client’s own default, stands for; absent, the first model that decides.',
  'decision.aliases': 'Other names of decision models.',
  'decision.places': 'Decisions of one key at once; 429 beyond.',
  'decision.escalate': 'Asks a larger model again about answers of little confidence.',
  'decision.escalate.below': 'Confidence below which it does.',
  'decision.escalate.to': 'The larger model.',
  ...under('limits.key', limits('one key; a key’s own limits go before these')),
  ...under('limits.organization', limits('all keys of one organisation')),
  organizations: 'By the name of an organisation: what differs from `limits.organization` and `files.quota`.',
  ...under('organizations.<name>.limits', limits('this organisation; what is absent is as in `limits.organization`')),
  'organizations.<name>.quota.bytes': 'Sealed bytes that it may have stored; absent, as in `files.quota`.',
  'organizations.<name>.quota.files': 'Files that it may have stored.',
  'limits.patience':
    'Without an answer for so long Redis counts as down; this is also the most that it adds to a request. Longer where gateways share a busy machine.',
  'limits.redis':
    'URL of a Redis that all processes share for limits and cache; absent, each process counts for itself.',
  'limits.whenDown.places':
    'While Redis is down: `closed` refuses with 503, `open` lets pass uncounted. Absent: closed.',
  'limits.whenDown.tokens': 'The same for tokens and audio. Absent: closed.',
  'limits.whenDown.requests': 'The same for requests a second. Absent: open.',
  'timeouts.total': 'One deadline over all attempts. A stream that has begun may outlive it.',
  'timeouts.firstToken': 'What one attempt at a stream may take to its first token.',
  'timeouts.idle': 'Between two chunks of a backend.',
  'timeouts.sealedIdle': 'The longest silence of a sealed stream, whatever its backend is allowed.',
  'timeouts.stream': 'The longest a stream may run.',
  'timeouts.stalled':
    'A reader that takes nothing of an answer, whole or as events, for so long is cut; only while bytes wait for it.',
  'timeouts.heartbeat': 'Between signs of life while the first token is awaited.',
  'timeouts.decision': 'Deadline of a decision; the stock client gives up after 10 seconds.',
  'routing.retries': 'Attempts after the first; each backend of a model is asked once in any case.',
  'routing.breaker.faults': 'A backend’s model is left in peace after so many faults in a row,',
  'routing.breaker.ratio': 'or when more than this share of its last 20 calls failed (of at least 10).',
  'routing.breaker.rest': 'For how long, before one call tries it again.',
  'routing.hedge': 'Asks a second backend when the first is silent; null never does.',
  'routing.hedge.after': 'Silence after which it is asked.',
  'routing.hedge.share': 'The share of calls that may be asked twice.',
  'bodies.chat': 'A chat or embedding request.',
  'bodies.audio': 'A form with an audio file.',
  'bodies.file': 'A stored file, decoded.',
  'files.quota.bytes': 'Sealed bytes that an organisation may have stored; null for no limit.',
  'files.quota.files': 'Files that it may have stored.',
  'files.incognito': 'How long an incognito file is kept.',
  'files.link': 'How long a link to the store works.',
  'files.sweep': 'Between two sweeps of a process, give or take half.',
  'files.grace': 'After which bytes without a record are removed; longer than any upload may take.',
  'files.indexing': 'What the indexing of one file may take; a record that says `running` for longer says `failed`.',
  'server.host': 'The address to listen on.',
  'server.port': 'The port; 0 takes any free one.',
  'server.linger':
    'How long new connections are still taken after SIGTERM, so that whoever sends them can see that it should stop.',
  'server.drain': 'What running requests are given after SIGTERM or SIGINT.',
  'log.level': '`info` has a line for every request.',
  'outside.ports': 'For addresses that a user or a model names: ports that may be reached,',
  'outside.bytes': 'the longest body, decompressed,',
  'outside.time': 'the time from the call to the end of the body,',
  'outside.allow': 'and host names, addresses and CIDR ranges that may be reached although they are private.',
  providers: 'By the name that a request’s `provider` pins: `[a-z0-9-]`, 64 characters at most.',
  'providers.<name>.use': 'A plugin of the family `providers`.',
  'storage.blobs': 'Absent: `{"use": "fs"}` under `SEALGATE_DATA`.',
  'storage.blobs.use': 'A plugin of the family `storage` that fits `BlobStore`.',
  'storage.metadata': 'Absent: `{"use": "sqlite"}` under `SEALGATE_DATA`.',
  'storage.metadata.use': 'A plugin of the family `storage` that fits `MetadataStore`.',
  'enclave.retrieval.model':
    'The embedding model that indexing and search use; the first that is there when absent, words alone when none is.',
  'enclave.retrieval.cache': 'Bytes of opened indexes that are kept in memory.',
  'enclave.epoch': 'Ms that a key may be sealed to.',
  'enclave.kems': 'Key agreements that are taken.',
  'enclave.requireBinding': 'Refuses sealed JSON that does not name its route.',
  'enclave.connect':
    'Confidential processes that run already: paths of unix sockets, or `host:port` with `tls`. Absent: the gateway starts one.',
  'enclave.listen': 'Where `sealgate enclave` listens: the path of a unix socket, or `host:port` with `tls`.',
  'enclave.tls': 'Both sides prove themselves to each other; not for unix sockets.',
  'enclave.tls.ca': 'File: who signs the other side’s certificate.',
  'enclave.tls.cert': 'File: the own certificate.',
  'enclave.tls.key': 'File: its key.',
  'enclave.providers': 'The enclave’s own providers; those of the gateway when absent.',
  'enclave.providers.<name>.use': 'A plugin of the family `providers`.',
  'enclave.evidence': 'What proves where it runs. Absent: `{"use": "dev"}`, which proves nothing.',
  'enclave.evidence.use': 'A plugin of the family `evidence`.',
  tools: 'Only these tools, by the names of their plugins; absent, all that are found.',
  'tools.<name>': 'The settings of that tool; `{}` when it has none.',
}

export const families = {
  opening: `# Plugins

Made from the code by \`npm run docs\`: descriptions and meanings are the comments in the plugins’ own files, or else the words in \`test/docs\`.

A plugin is one file that fits one port; its name is the file’s. "Needs" are the ports that it is given.`,
  each: {
    tools:
      'Things that can be done on request. All that are found are offered, unless the configuration names some under `tools`.',
    providers: `Backends. Each is one key under \`providers\`; two keys with the same \`use\` are two backends. What one can do is said by the
methods that it has, not by throwing ones that it has not. What each can do is told here for the settings that it has by default.`,
    storage:
      'Where rows (`MetadataStore`) and bytes (`BlobStore`) are kept: one of each, under `storage.metadata` and `storage.blobs`.',
    evidence: 'What proves where an enclave runs ([wire.md](wire.md#6-keys-and-evidence)).',
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
  rehearsal: 'No model at all: the same words again and again, offline, for trying things out.',
  'use-lite': 'A small model of sentence embeddings, in this process and offline: decides by likeness of words.',
  dev: 'Signs with a key that everybody knows, so it proves nothing; for development.',
}
