import { isIPv6 } from 'node:net'

type Providers = Record<string, Record<string, unknown> & { use: string }>

/** Providers that need a key alone, by the variable that their vendor's own clients read. */
const keyed: Readonly<Record<string, string>> = {
  MISTRAL_API_KEY: 'mistral',
  GROQ_API_KEY: 'groq',
  TOGETHER_API_KEY: 'together',
  FIREWORKS_API_KEY: 'fireworks',
  DEEPSEEK_API_KEY: 'deepseek',
  XAI_API_KEY: 'xai',
  CO_API_KEY: 'cohere',
}

/** The configuration from the usual environment variables, in the form of a file: with `$NAME` in the place of a value. */
export const configFromEnv = (env: NodeJS.ProcessEnv, tools: readonly string[]) => {
  // Both providers answer offline, so that a first request needs no account.
  const providers: Providers = { rehearsal: { use: 'rehearsal' }, 'use-lite': { use: 'use-lite' } }
  const { OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY, GEMINI_API_KEY, OLLAMA_HOST } = env
  const { TYPESAFE_API_KEY, OPENROUTER_API_KEY, DEEPGRAM_API_KEY, BRAVE_API_KEY, SEALGATE_GGUF } = env
  if (OPENAI_API_KEY || OPENAI_BASE_URL) {
    providers['openai'] = {
      use: 'openai',
      ...(OPENAI_API_KEY && { apiKey: '$OPENAI_API_KEY' }),
      ...(OPENAI_BASE_URL && { baseUrl: '$OPENAI_BASE_URL' }),
    }
  }
  if (ANTHROPIC_API_KEY) providers['anthropic'] = { use: 'anthropic', apiKey: '$ANTHROPIC_API_KEY' }
  if (GEMINI_API_KEY) providers['gemini'] = { use: 'gemini', apiKey: '$GEMINI_API_KEY' }
  if (OLLAMA_HOST) providers['ollama'] = { use: 'ollama', baseUrl: urlOf(OLLAMA_HOST.trim()) }
  if (TYPESAFE_API_KEY) providers['typesafe'] = { use: 'typesafe', apiKey: '$TYPESAFE_API_KEY' }
  if (OPENROUTER_API_KEY) providers['openrouter'] = { use: 'openrouter', apiKey: '$OPENROUTER_API_KEY' }
  if (DEEPGRAM_API_KEY) providers['deepgram'] = { use: 'deepgram', apiKey: '$DEEPGRAM_API_KEY' }
  for (const [variable, name] of Object.entries(keyed)) {
    if (env[variable]) providers[name] = { use: name, apiKey: `$${variable}` }
  }
  if (SEALGATE_GGUF) providers['llama'] = { use: 'llama', file: '$SEALGATE_GGUF' }
  return {
    providers,
    ...(BRAVE_API_KEY && {
      tools: Object.fromEntries(
        tools.map((tool) => [tool, tool === 'webSearchTool' ? { provider: 'brave', apiKey: '$BRAVE_API_KEY' } : {}]),
      ),
    }),
  }
}

/** `OLLAMA_HOST` as Ollama reads it: an address has the port of its scheme, and a bare host 11434. */
const urlOf = (host: string): string => {
  if (/^https?:\/\//.test(host)) return host
  const [place = '', ...path] = host.split('/')
  const [, name, port] = isIPv6(place) ? [place, `[${place}]`] : /^([^]*?)(?::(\d*))?$/.exec(place)!
  return [`http://${name || '127.0.0.1'}:${port || 11434}`, ...path].join('/')
}
