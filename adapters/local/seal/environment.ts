/** Variables of models' vendors: keys, addresses, and switches that override an address. */
const vendors =
  /^(ANTHROPIC|CLAUDE_CODE|OPENAI|AZURE_OPENAI|CODEX|GEMINI|GOOGLE_(API_KEY|GEMINI|GENAI|CLOUD|APPLICATION)|VERTEX|MISTRAL|GROQ|OPENROUTER|DEEPSEEK|XAI|COHERE|CO_API_KEY|TOGETHER|FIREWORKS|CEREBRAS|PERPLEXITY|DASHSCOPE|QWEN|MOONSHOT|REPLICATE|HF|HUGGING_?FACE|OLLAMA|LITELLM|AWS_BEARER_TOKEN_BEDROCK|OPENCODE)(_|$)/i

/** API keys of all other services. */
const keys = /_API_KEY$/i

/** A program that uses an HTTP proxy would send its local requests there. */
const local = ['127.0.0.1', 'localhost', '::1']

/** Variables of a program: no variable of the gateway, no vendor's key, and no variable that contains a secret. */
export const environmentFor = (
  env: NodeJS.ProcessEnv,
  own: Readonly<Record<string, string>>,
  secrets: readonly string[],
): Record<string, string> => {
  const kept = Object.entries(env).flatMap(([name, value]): (readonly [string, string])[] => {
    const isOurs = /^SEALGATE_/i.test(name)
    const tells = secrets.some((secret) => secret !== '' && value?.includes(secret) === true)
    return value === undefined || isOurs || tells || vendors.test(name) || keys.test(name) ? [] : [[name, value]]
  })
  const direct = [env['NO_PROXY'] ?? env['no_proxy'] ?? '', ...local].filter((address) => address !== '').join(',')
  return { ...Object.fromEntries(kept), NO_PROXY: direct, no_proxy: direct, ...own }
}
