import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { use } from '../../core/plugin.ts'
import anthropic from '../../plugins/providers/anthropic.ts'
import cohere from '../../plugins/providers/cohere.ts'
import deepseek from '../../plugins/providers/deepseek.ts'
import fireworks from '../../plugins/providers/fireworks.ts'
import gemini from '../../plugins/providers/gemini.ts'
import groq from '../../plugins/providers/groq.ts'
import mistral from '../../plugins/providers/mistral.ts'
import openai from '../../plugins/providers/openai.ts'
import openrouter from '../../plugins/providers/openrouter.ts'
import sglang from '../../plugins/providers/sglang.ts'
import together from '../../plugins/providers/together.ts'
import vllm from '../../plugins/providers/vllm.ts'
import xai from '../../plugins/providers/xai.ts'
import type { Asked, Take } from './recorded.ts'

const folder = 'test/vectors/providers'

/** Whole answers and streams by their recording, which the backend's model names. */
export const answers = [
  ...(['chat', 'tools', 'search', 'stream-error'] as const),
  ...(['error-400', 'error-key', 'error-429', 'error-500'] as const),
] as const

const hosted = { anthropic, cohere, deepseek, fireworks, gemini, groq, mistral, openai, openrouter, together, xai }

/** Vendors whose answers over HTTP are recorded. */
export const vendors = [...Object.keys(hosted), 'sglang', 'vllm']

/** A backend of each vendor, all of them at this address. */
export const vendorsAt = (url: string) => [
  ...Object.entries(hosted).map(([name, plugin]) =>
    use(plugin as typeof openai, { apiKey: 'k', baseUrl: `${url}/${name}` }, name),
  ),
  use(sglang, { baseUrl: `${url}/sglang` }),
  use(vllm, { baseUrl: `${url}/vllm` }),
]

/** The model and the kind of answer that a request names: Gemini's by the path, all others by the body. */
const namedIn = ({ path, body }: Asked) => {
  const [, model, streams] = /\/models\/([^:]+):(stream)?/.exec(path) ?? []
  if (model !== undefined) return { model, stream: streams !== undefined }
  return JSON.parse(body.toString()) as { model: string; stream?: boolean }
}

/** Plays the recording that the model of the request names. */
export const vendorAnswer = (request: Asked): Take => {
  const [, provider = ''] = request.path.split('/')
  const { model, stream } = namedIn(request)
  const at = join(folder, provider)
  const files = readdirSync(at)
  // Gemini calls a wrong key of the gateway the caller's mistake.
  const status = model === 'error-key' ? 400 : Number(/^error-(\d+)$/.exec(model)?.[1] ?? 200)
  const isStream = stream === true && files.includes(`${model}.sse`)
  const file = isStream ? `${model}.sse` : `${model}.json`
  if (!files.includes(file)) return { status: 404, body: '{"error":{"message":"none"}}' }
  const type = isStream ? 'text/event-stream' : 'application/json'
  return { status, headers: { 'content-type': type }, body: readFileSync(join(at, file)) }
}

/** The answers of one vendor. Refusals are worded alike by all but a few. */
export const answersOf = (vendor: string): readonly string[] => {
  const files = new Set(readdirSync(join(folder, vendor)).map((file) => file.replace(/\.\w+$/, '')))
  const isOfMany = !['anthropic', 'gemini', 'openai', 'openrouter'].includes(vendor)
  return answers.filter((name) => files.has(name) && !(isOfMany && name.startsWith('error-')))
}
