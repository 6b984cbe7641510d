import type { Front } from './answers.ts'

export interface Snippet {
  readonly name: string
  readonly text: string
}

/** Configurations of usual clients for this gateway. Only the first snippet contains the key. */
export const snippetsOf = (
  base: string,
  links: Front['links'],
  credential: string,
  model: string,
): readonly Snippet[] => {
  const api = base + (links['openai'] ?? links['standard'] ?? '')
  const ask = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
  const js = JSON.stringify({ model, input: 'Hello' })
  const chat = [
    {
      name: 'curl',
      text: `curl ${api}/chat/completions \\\n  -H "Authorization: Bearer $SEALGATE_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '${ask.replaceAll("'", `'\\''`)}'`,
    },
  ]
  const dialects = [
    {
      name: 'openai in JavaScript',
      text: `import OpenAI from 'openai'\n\nconst client = new OpenAI({ baseURL: '${api}', apiKey: process.env.SEALGATE_KEY })\nconst answer = await client.responses.create(${js})\nconsole.log(answer.output_text)`,
    },
    {
      name: 'openai in Python',
      text: `import os\nfrom openai import OpenAI\n\nclient = OpenAI(base_url="${api}", api_key=os.environ["SEALGATE_KEY"])\nanswer = client.responses.create(model=${JSON.stringify(model)}, input="Hello")\nprint(answer.output_text)`,
    },
    { name: 'Claude Code', text: `ANTHROPIC_BASE_URL=${base} ANTHROPIC_API_KEY=$SEALGATE_KEY claude` },
    {
      name: 'Codex, in config.toml',
      text: `model = ${JSON.stringify(model)}\nmodel_provider = "sealgate"\n\n[model_providers.sealgate]\nname = "sealgate"\nbase_url = "${api}"\nenv_key = "SEALGATE_KEY"\nwire_api = "responses"`,
    },
  ]
  return [
    { name: 'Environment', text: `export SEALGATE_URL=${base}\nexport SEALGATE_KEY=${credential}` },
    ...(links['openai'] !== undefined || links['standard'] !== undefined ? chat : []),
    ...(links['openai'] === undefined ? [] : dialects),
    ...(links['confidential'] === undefined ? [] : [{ name: 'sealgate seal', text: 'sealgate seal -- claude' }]),
  ]
}
