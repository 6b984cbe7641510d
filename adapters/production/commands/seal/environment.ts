/** Variables of models' vendors: keys, addresses, and switches that lead past another address. */
const vendors =
  /^(ANTHROPIC|CLAUDE_CODE|OPENAI|AZURE_OPENAI|CODEX|GEMINI|GOOGLE_(API_KEY|GEMINI|GENAI|CLOUD|APPLICATION)|VERTEX|MISTRAL|GROQ|OPENROUTER|DEEPSEEK|XAI|COHERE|TOGETHER|FIREWORKS|CEREBRAS|PERPLEXITY|DASHSCOPE|QWEN|MOONSHOT|REPLICATE|HF|HUGGING_?FACE|OLLAMA|LITELLM|AWS_BEARER_TOKEN_BEDROCK|OPENCODE)(_|$)/i

/** Any other service's key for an interface. */
const keys = /_API_KEY$/i

/** Programs that honour a proxy would send the address of this machine to it. */
const local = ['127.0.0.1', 'localhost', '::1']

/** Variables of a program: nothing of the gateway, no vendor's key, and none that holds one of the secrets. */
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
  const direct = [env['NO_PROXY'] ?? env['no_proxy'] ?? '', ...local].filter((it) => it !== '').join(',')
  return { ...Object.fromEntries(kept), NO_PROXY: direct, no_proxy: direct, ...own }
}
