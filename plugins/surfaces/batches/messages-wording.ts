import * as v from 'valibot'
import type { Caller } from '../../../core/access/caller.ts'
import { type JsonObject, refuseMember } from '../../../core/dialects/json-object.ts'
import { checked } from '../../../core/validate.ts'
import { translateMessages } from '../../shared/dialects/messages/request.ts'
import { MessagesRequest } from '../../shared/dialects/messages/shape.ts'
import type { Given } from './needs.ts'
import { type Wording, mostDropped } from './worded.ts'

const BatchEntry = v.strictObject({
  custom_id: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/, 'up to 64 letters, digits, hyphens and underscores')),
  params: MessagesRequest,
})

/** A request of `/v1/messages/batches`, and the members that the vendor does not get. */
export const messagesWording = (
  { keepsakes }: Given,
  { organization }: Caller,
  headers: JsonObject,
): Wording & { readonly dropped: ReadonlySet<string> } => {
  const seal = keepsakes.for(organization)
  const dropped = new Set<string>()
  return {
    ...{ dialect: 'messages', noun: 'requests', dropped },
    read(value) {
      const { custom_id, params } = checked(BatchEntry, value)
      if (params.stream === true) refuseMember('params.stream', 'Expected none: a batch streams nothing')
      return {
        ...{ model: params.model, ability: 'chat', endpoint: null },
        print({ entry, candidate: { model } }) {
          const worded = translateMessages(params, 'messages', seal, headers, entry.settings.serverTools)
          for (const path of worded.dropped) if (dropped.size < mostDropped) dropped.add(path)
          return JSON.stringify({ custom_id, params: Object.assign(worded.native?.body ?? {}, { model }) })
        },
      }
    },
  }
}
