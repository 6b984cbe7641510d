import * as v from 'valibot'
import type { Caller } from '../../../core/access/caller.ts'
import { isJsonObject, memberNamed, type JsonObject, refuseMember } from '../../../core/dialects/json-object.ts'
import { refuseStoredState } from '../../shared/members.ts'
import { withOwnCache } from '../../../core/inference/prompt-caches.ts'
import type { Ability } from '../../../core/inference/models/catalog-entry.ts'
import { checked } from '../../../core/validate.ts'
import { translateResponses } from '../../shared/dialects/responses/request.ts'
import { ResponsesRequest } from '../../shared/dialects/responses/shape.ts'
import type { Given } from './needs.ts'
import { type Chosen, type Wording, mostDropped } from './worded.ts'

/** Paths that a request of a batch may ask, with what its model has to do. */
const endpoints: Readonly<Record<string, Ability>> = {
  '/v1/chat/completions': 'chat',
  '/v1/embeddings': 'embed',
  '/v1/responses': 'chat',
}

/** In characters. */
const longestId = 512

const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= longestId

const bodyOf = ({ body }: JsonObject): JsonObject & { readonly model: string } => {
  if (!isJsonObject(body)) return refuseMember('body', 'Expected Object')
  if (!isShort(body['model'])) return refuseMember('body.model', 'Expected the name of a model')
  if (body['stream'] === true) refuseMember('body.stream', 'Expected none: a batch streams nothing')
  if (body['store'] === true) refuseStoredState('body.store')
  return body as JsonObject & { readonly model: string }
}

const ResponsesLine = v.looseObject({ body: ResponsesRequest })

/** The body of a line as the vendor gets it. Throws BadRequest for state at the vendor. */
type Printed = (chosen: Chosen) => JsonObject

/** A line of a file for `/v1/batches`, and the members that the vendor does not get. */
export const openaiWording = (
  { keepsakes, settings }: Given,
  { organization }: Caller,
): Wording & { readonly dropped: ReadonlySet<string> } => {
  const seal = keepsakes.for(organization)
  const dropped = new Set<string>()
  const ofResponses = (value: JsonObject): Printed => {
    const { body } = checked(ResponsesLine, value)
    return ({ entry }) => {
      const worded = translateResponses(body, 'responses', seal, entry.settings.serverTools)
      for (const path of worded.dropped) if (dropped.size < mostDropped) dropped.add(path)
      return worded.native?.body ?? {}
    }
  }
  const cached = (body: JsonObject): JsonObject =>
    settings.routing.promptCaches === 'shared' ? body : withOwnCache(body, organization)
  return {
    ...{ dialect: 'openai', noun: 'lines', dropped },
    read(value) {
      if (!isJsonObject(value)) return refuseMember('', 'Expected Object')
      const { custom_id, method, url } = value
      if (!isShort(custom_id)) return refuseMember('custom_id', `Expected a text of up to ${longestId} characters`)
      if (method !== 'POST') return refuseMember('method', 'Expected "POST"')
      const ability = typeof url === 'string' && Object.hasOwn(endpoints, url) ? endpoints[url] : undefined
      if (ability === undefined) return refuseMember('url', `Expected ${Object.keys(endpoints).join(' or ')}`)
      const body = bodyOf(value)
      if (url !== '/v1/responses' && memberNamed(body, ['file_id']) !== undefined) refuseStoredState('body')
      const printed: Printed = url === '/v1/responses' ? ofResponses(value) : () => body
      return {
        ...{ model: body.model, ability, endpoint: url as string },
        print: (chosen) => {
          const sent = Object.assign(cached(printed(chosen)), { model: chosen.candidate.model })
          return `${JSON.stringify({ custom_id, method, url, body: sent })}\n`
        },
      }
    },
  }
}
