import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'

/** A turn as its frame words it. */
export interface TurnWords {
  /** The members of the request, without those that only a WebSocket knows. */
  readonly members: JsonObject
  /** The items of the whole conversation, as JSON without brackets; null where the input is none. */
  readonly items: string | null
  /** The response on which the turn rests, where the connection remembers it no more. */
  readonly lost: string | null
}

const itemsOf = (input: unknown): readonly unknown[] | null =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : Array.isArray(input) ? input : null

const textOf = (items: readonly unknown[]): string => items.map((item) => JSON.stringify(item)).join(',')

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(',')

/** Remembers the conversation of the last response of one connection, up to so many characters, and nothing beyond the connection. */
export const chain = (most: number) => {
  let id: string | null = null
  let items = ''
  const forget = (): void => {
    id = null
    items = ''
  }
  return {
    words({ type: _, stream: __, generate: ___, previous_response_id: previous, ...members }: JsonObject): TurnWords {
      const input = itemsOf(members['input'] ?? [])
      if (previous === undefined || previous === null) return { members, items: input && textOf(input), lost: null }
      if (previous !== id) return { members, items: null, lost: String(previous) }
      return { members, items: input && joined(items, textOf(input)), lost: null }
    },
    remember(response: JsonObject, before: string): void {
      const output = Array.isArray(response['output']) ? response['output'] : []
      const whole = joined(before, textOf(output))
      if (typeof response['id'] !== 'string' || whole.length > most) return forget()
      id = response['id']
      items = whole
    },
    forget,
  }
}

export type Chain = ReturnType<typeof chain>

/** The body of the turn's request. */
export const bodyOf = ({ members, items, lost }: TurnWords): string => {
  const { input, ...others } = members
  const rest = JSON.stringify(
    Object.assign(others, { stream: true, ...(lost !== null && { previous_response_id: lost }) }),
  )
  return `${rest.slice(0, -1)},"input":${items === null ? (JSON.stringify(input) ?? '[]') : `[${items}]`}}`
}

/** The response that an event holds. */
export const responseIn = (event: unknown): JsonObject | null =>
  isJsonObject(event) && isJsonObject(event['response']) ? event['response'] : null
