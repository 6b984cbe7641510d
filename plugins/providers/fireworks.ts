import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'
import { createdAt } from './shared/chat-backend.ts'
import { hostedChat, refusedFields } from './shared/hosted-chat.ts'
import { asSystem } from './shared/fit-messages.ts'

const refused = refusedFields('web_search_options')

/** Null for models of other routes, such as those that draw. */
const modelOf = ({ id, created, supports_chat, supports_image_input }: JsonObject): Model | null => {
  if (typeof id !== 'string') return null
  if (supports_chat === true) {
    return {
      id,
      type: 'CHAT',
      ...createdAt(created),
      modalities: supports_image_input === true ? ['text', 'image'] : ['text'],
    }
  }
  return /embed/.test(id) ? { id, type: 'EMBEDDING', ...createdAt(created) } : null
}

/** The API of Fireworks AI. */
export default plugin({
  port: Upstream,
  name: 'fireworks',
  ...hostedChat({
    address: 'https://api.fireworks.ai/inference/v1',
    words: () => ({ unheard: () => refused, messages: asSystem, modelOf }),
    offers: ({ embed }) => ({ embed }),
  }),
})
