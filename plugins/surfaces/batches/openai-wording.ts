import {
  holdsMember,
  isJsonObject,
  type JsonObject,
  refuseMember,
  refuseStoredState,
} from '../../../core/dialects/json-object.ts'
import type { Ability } from '../../../core/inference/models/catalog-entry.ts'
import type { Wording } from './worded.ts'

/** Paths that a request of a batch may ask, with what its model has to do. */
export const endpoints: Readonly<Record<string, Ability>> = {
  '/v1/chat/completions': 'chat',
  '/v1/embeddings': 'embed',
}

/** In characters. */
const longestId = 512

const none: ReadonlySet<string> = new Set()

const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= longestId

const bodyOf = ({ body }: JsonObject): JsonObject & { readonly model: string } => {
  if (!isJsonObject(body)) return refuseMember('body', 'Expected Object')
  if (!isShort(body['model'])) return refuseMember('body.model', 'Expected the name of a model')
  if (body['stream'] === true) refuseMember('body.stream', 'Expected none: a batch streams nothing')
  if (body['store'] === true) refuseStoredState('body.store')
  if (holdsMember(body, 'file_id', none)) refuseStoredState('body')
  return body as JsonObject & { readonly model: string }
}

/** A line of a file for `/v1/batches`. */
export const openaiWording: Wording = {
  dialect: 'openai',
  noun: 'lines',
  read(value) {
    if (!isJsonObject(value)) return refuseMember('', 'Expected Object')
    const { custom_id, method, url } = value
    if (!isShort(custom_id)) return refuseMember('custom_id', `Expected a text of up to ${longestId} characters`)
    if (method !== 'POST') return refuseMember('method', 'Expected "POST"')
    const ability = typeof url === 'string' && Object.hasOwn(endpoints, url) ? endpoints[url] : undefined
    if (ability === undefined) return refuseMember('url', `Expected ${Object.keys(endpoints).join(' or ')}`)
    const body = bodyOf(value)
    return {
      ...{ model: body.model, ability, endpoint: url as string },
      print: ({ candidate: { model } }) =>
        `${JSON.stringify({ custom_id, method, url, body: Object.assign(body, { model }) })}\n`,
    }
  },
}
