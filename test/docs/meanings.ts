import { readFileSync } from 'node:fs'

type Words = Readonly<Record<string, string>>

/** The words for what a schema can't say by itself. */
const words = JSON.parse(readFileSync('test/docs/meanings.json', 'utf8')) as {
  readonly variables: Words
  /** Of the limits of somebody, whom the other table names by the path of these limits. */
  readonly limits: Words
  readonly whoseLimits: Words
  readonly settings: Words
  /** Of plugins that have no sentence in their own file. */
  readonly plugins: Words
  /** By plugin and setting, or by setting alone where the sentence is the same everywhere. */
  readonly pluginSettings: Words
}

export const { variables, plugins: descriptions, pluginSettings } = words

const limits = Object.entries(words.whoseLimits).flatMap(([path, whose]) =>
  Object.entries(words.limits).map(([key, meaning]) => [`${path}.${key}`, meaning.replace('{whose}', whose)] as const),
)

/** The meaning of each setting, by its path. */
export const meanings: Words = { ...words.settings, ...Object.fromEntries(limits) }

/** The chapters of the generated page of the configuration. */
export const chapters = {
  opening: `# Configuration

Made from the code by \`npm run docs\`; the words are in \`test/docs/meanings.json\`.

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
  surroundings: `\`HOST\`, \`PORT\` and \`SEALGATE_LOG\` override the file. Line breaks at the end of these variables, and of those that the file names, do not count. A file of variables made on Windows has them. An address in \`OLLAMA_HOST\` has the port of its scheme, and a bare host has 11434. Without a file there are the providers \`rehearsal\` and \`use-lite\`, which need neither
an account nor a network, and whatever these variables add:`,
} as const

/** The chapters of the generated page of the plugins. */
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
