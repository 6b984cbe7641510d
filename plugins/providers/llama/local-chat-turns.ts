import { BadRequest } from '../../../core/errors.ts'
import type { ChatCall, Message } from '../../../core/ports/upstream.ts'

/** A conversation as a model in this process takes it: text alone, and the last turn of the model may be unfinished. */
export type Turn =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: readonly (string | object)[] }

/** Throws BadRequest for tools, images and all parts that are not text. */
export const turnsOf = ({ body, prefix }: ChatCall): readonly Turn[] => {
  if (Array.isArray(body['tools']) && body['tools'].length > 0) throw unable('tools', 'no tools')
  if (typeof body['n'] === 'number' && body['n'] > 1) throw unable('n', 'one choice')
  const turns = body.messages.map((message): Turn => {
    const text = textOf(message)
    if (message.role === 'assistant') return { type: 'model', response: [text] }
    return { type: message.role === 'system' || message.role === 'developer' ? 'system' : 'user', text }
  })
  return prefix === undefined ? turns : [...turns, { type: 'model', response: [prefix] }]
}

const textOf = ({ role, content, tool_calls }: Message): string => {
  if (role === 'tool' || role === 'function' || (tool_calls?.length ?? 0) > 0) throw unable('messages', 'no tools')
  if (typeof content === 'string') return content
  return (content ?? [])
    .map((part) => {
      if (part.type !== 'text') throw unable('messages', 'text alone')
      return part.text ?? ''
    })
    .join('\n')
}

const unable = (field: string, expected: string) =>
  new BadRequest('The model does not support every field of the request', {
    validator: { [field]: `expected ${expected}` },
  })
