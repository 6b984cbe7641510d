import { parseObject } from '../../backend.ts'
import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { refuseMember } from '../../members.ts'
import type { Seal } from '../keepsake.ts'
import type { InputItem } from './shape.ts'

const prefix = 'rs_sealgate_'

/**
 * An item that holds all others of its answer under their ids, sealed into its own id. Clients that refer to items by id
 * alone send its id too, so nothing is stored here.
 */
export const memoryItemOf = (items: readonly JsonObject[], seal: Seal): JsonObject => {
  const held = Object.fromEntries(items.map((item) => [String(item['id']), item]))
  return { id: prefix + seal.seal(JSON.stringify(held, withoutOdds)), type: 'reasoning', summary: [] }
}

/** No backend reads the odds of an earlier answer, which are many times as long as its text. */
const withoutOdds = (name: string, member: unknown): unknown => (name === 'logprobs' ? [] : member)

const isMemory = (id: unknown): id is string => typeof id === 'string' && id.startsWith(prefix)

/** The input with the items themselves in the places of references to them, and null in the places of memories. Throws BadRequest for a reference that no memory holds. */
export const withMemory = (items: readonly InputItem[], { open }: Seal): readonly (InputItem | null)[] => {
  const held = new Map<string, InputItem>()
  for (const { id } of items) {
    const text = isMemory(id) ? open(id.slice(prefix.length)) : null
    for (const [name, item] of Object.entries((text === null ? null : parseObject(text)) ?? {})) {
      if (isJsonObject(item)) held.set(name, item as InputItem)
    }
  }
  return items.map((item, at) => {
    if (isMemory(item['id'])) return null
    if (item.type !== 'item_reference') return item
    const found = held.get(String(item['id']))
    if (found !== undefined) return found
    const expected = 'Expected an item that the same caller was given: send items whole, with store: false'
    return refuseMember(`input.${at}.id`, expected, 'item_not_found')
  })
}
