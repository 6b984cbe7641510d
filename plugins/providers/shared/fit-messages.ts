import type { Message } from '../../../core/ports/upstream.ts'

/** The conversation for a backend without the role `developer`. */
export const asSystem = (messages: readonly Message[]): readonly Message[] =>
  messages.map((message) => (message.role === 'developer' ? { ...message, role: 'system' } : message))

/** The conversation for a backend that refuses other members of a message, such as thoughts that another vendor gave. */
export const onlyMembers = (messages: readonly Message[], taken: ReadonlySet<string>): readonly Message[] =>
  messages.map((message) => {
    const names = Object.keys(message)
    if (names.every((name) => taken.has(name))) return message
    return Object.fromEntries(Object.entries(message).filter(([name]) => taken.has(name))) as Message
  })
