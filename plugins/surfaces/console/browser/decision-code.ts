import type { Snippet } from './snippets.ts'
import { curlOf } from './gateway.ts'

/** The threshold that stands in the configuration until labelled cases have found one. */
const anyThreshold = 0.7

/** JSON for a template literal that reads no escapes: both marks stand only inside its strings. */
const rawTemplate = (json: string): string => json.replaceAll('`', '\\u0060').replaceAll('${', '\\u0024{')

const javaScript = (address: string, body: string): string => `// The body is text, so that labels keep their order.
const body = String.raw\`${rawTemplate(body)}\`

const answer = await fetch(${JSON.stringify(address)}, {
  method: 'POST',
  headers: { authorization: \`Bearer \${process.env.SEALGATE_KEY}\`, 'content-type': 'application/json' },
  body,
})
if (!answer.ok) throw new Error(\`\${answer.status}: \${await answer.text()}\`)
console.log((await answer.json()).answers)`

const python = (address: string, body: string): string => `import json
import os
from urllib.request import Request, urlopen

# The body is text, so that labels keep their order.
body = r'''${body.replaceAll(`'''`, '\\u0027\\u0027\\u0027')}'''

headers = {"authorization": "Bearer " + os.environ["SEALGATE_KEY"], "content-type": "application/json"}
with urlopen(Request(${JSON.stringify(address)}, body.encode(), headers)) as answer:
    print(json.load(answer)["answers"])`

/** The part of a configuration file that asks the second model again about what the first one is not sure of. */
export const decisionConfig = (models: readonly string[], threshold: number | null): string => {
  const [small = 'MODEL', large = null] = models
  const escalate = large === null ? {} : { escalate: { below: threshold ?? anyThreshold, to: large } }
  return JSON.stringify({ decision: { default: small, ...escalate } }, null, 2)
}

/** The same question for a program. The key stands in a variable. */
export const decisionSnippets = (base: string, path: string, body: string): readonly Snippet[] => [
  { name: 'curl', text: curlOf(base, path, 'POST', body) },
  { name: 'JavaScript', text: javaScript(base + path, body) },
  { name: 'Python', text: python(base + path, body) },
]
