import type { Client } from '../../../../core/sealed/client/client.ts'
import { type ProxyCall, type ProxyRoute, sendJson } from './proxy-call.ts'
import { ProxyRefusal } from './errors.ts'

/** The facts of a model in the catalog that programs read. */
interface Listed {
  readonly model: string
  readonly name?: string
  readonly created?: number
  readonly owned_by?: string
  readonly type?: string
  readonly description?: string
}

/** `created` is in Unix seconds; 0 where the gateway tells none. */
const asOpenai = ({ model, created, owned_by }: Listed) => ({
  id: model,
  object: 'model',
  created: created ?? 0,
  owned_by: owned_by ?? 'sealgate',
})

const asMessages = ({ model, name, created }: Listed) => ({
  type: 'model',
  id: model,
  display_name: name ?? model,
  created_at: new Date((created ?? 0) * 1000).toISOString(),
})

const asGoogle = ({ model, name, description, type }: Listed) => ({
  name: `models/${model}`,
  baseModelId: model,
  version: '1',
  displayName: name ?? model,
  description: description ?? '',
  supportedGenerationMethods:
    type === undefined || type === 'CHAT' ? ['generateContent', 'streamGenerateContent', 'countTokens'] : [],
})

/** Every request of the Messages dialect names a version. */
const speaksMessages = ({ request }: ProxyCall): boolean => request.headers['anthropic-version'] !== undefined

/** The confidential catalog in the shape of the caller's dialect. */
export const modelRoutes = (client: Client): readonly ProxyRoute[] => {
  const list = async () => (await client.models.list()) as readonly Listed[]
  const one = async (encoded: string): Promise<Listed> => {
    const name = decoded(encoded)
    const found = (await list()).find(({ model }) => model === name)
    if (found === undefined) throw new ProxyRefusal(404, 'The model does not exist, or the key may not use it sealed', 'model', 'model_not_found') // prettier-ignore
    return found
  }
  return [
    {
      method: 'GET',
      path: /^\/v1\/models$/,
      tongue: 'openai',
      async serve(call) {
        const all = await list()
        if (!speaksMessages(call)) return sendJson(call.response, 200, { object: 'list', data: all.map(asOpenai) })
        const data = all.filter(({ type }) => type === undefined || type === 'CHAT').map(asMessages)
        const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
        sendJson(call.response, 200, { data, has_more: false, ...ends })
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/models\/(.+)$/,
      tongue: 'openai',
      async serve(call) {
        const found = await one(call.params[0]!)
        sendJson(call.response, 200, (speaksMessages(call) ? asMessages : asOpenai)(found))
      },
    },
    {
      method: 'GET',
      path: /^\/v1beta\/models$/,
      tongue: 'google',
      serve: async ({ response }) => sendJson(response, 200, { models: (await list()).map(asGoogle) }),
    },
    {
      method: 'GET',
      path: /^\/v1beta\/models\/([^:]+)$/,
      tongue: 'google',
      serve: async ({ response, params }) => sendJson(response, 200, asGoogle(await one(params[0]!))),
    },
  ]
}

/** A name with a lone `%` stays as it is; the catalog then has no such model. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
