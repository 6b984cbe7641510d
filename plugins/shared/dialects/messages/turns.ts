import { print } from '../../../../core/dialects/json.ts'
import { exact } from '../../long-numbers.ts'
import type { Message, Part, ToolCall } from '../../../../core/ports/upstream.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { refuseMember, objectIn, objectsIn, refuseStoredState, textIn } from '../../members.ts'
import { isKeepsake, readKeepsake, restored, type Keepsake, type TurnsContext } from '../keepsake.ts'
import type { Drop } from '../translated-request.ts'
import type { Content, Turn } from './shape.ts'

/** A text alone is the short spelling of one block. */
const blocksOf = (content: Content): readonly JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

/** The texts of a system prompt as one. */
export const systemText = (content: Content, path: string, drop: Drop): string => {
  if (typeof content === 'string') return content
  const texts: string[] = []
  for (const [at, block] of content.entries()) {
    tellOf(block, path, drop)
    if (block['type'] === 'text') texts.push(textIn(block, 'text', `${path}.${at}`))
    else drop(`${path}.${block['type']}`)
  }
  return texts.join('\n\n')
}

/** Marks for caches and citations have no place in the common format. */
const tellOf = ({ cache_control, citations }: JsonObject, path: string, drop: Drop): void => {
  if (cache_control != null) drop(`${path}.cache_control`)
  if (citations != null) drop(`${path}.citations`)
}

/** The messages of one turn: results of tools stand in front, each as a message of its own. */
export const messagesOf = (turn: Turn, path: string, telling: TurnsContext): readonly Message[] => {
  const { role, content } = turn
  if (typeof content === 'string') return [{ role, content }]
  if (role === 'system') return [{ role, content: systemText(content, `${path}.content`, telling.drop) }]
  if (role === 'assistant') return [saidIn(content, `${path}.content`, telling)]
  const results: Message[] = []
  const parts: Part[] = []
  for (const [at, block] of content.entries()) {
    const where = `${path}.content.${at}`
    if (block['type'] === 'tool_result') results.push(resultOf(block, where, parts, telling))
    else parts.push(...partsOf(block, where, telling))
  }
  return parts.length === 0 ? results : [...results, { role: 'user', content: plain(parts) }]
}

/** A single text stands as a string, which every backend takes. */
const plain = (parts: readonly Part[]): string | readonly Part[] =>
  parts.length === 1 && parts[0]!.type === 'text' ? parts[0]!.text! : parts

/** A block of the user in the common format. A kind that no backend of another dialect knows is left out and told. */
const partsOf = (block: JsonObject, path: string, telling: TurnsContext): readonly Part[] => {
  const { drop } = telling
  tellOf(block, 'messages.content', drop)
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: textIn(block, 'text', path) }]
    case 'image':
      return [{ type: 'image_url', image_url: { url: addressOf(objectIn(block, 'source', path), path) } }]
    case 'document':
      return documentOf(block, path, telling)
    case 'search_result': {
      const texts = objectsIn(block, 'content', path).map((item, at) => textIn(item, 'text', `${path}.content.${at}`))
      return [{ type: 'text', text: [block['title'], block['source'], ...texts].filter(Boolean).join('\n') }]
    }
    default:
      drop(`messages.content.${block['type']}`)
      return []
  }
}

/** An address that any backend resolves. Throws BadRequest for a file in the vendor's store. */
const addressOf = (source: JsonObject, path: string): string => {
  switch (source['type']) {
    case 'base64':
      return `data:${textIn(source, 'media_type', `${path}.source`)};base64,${textIn(source, 'data', `${path}.source`)}`
    case 'url':
      return textIn(source, 'url', `${path}.source`)
    case 'file':
      return refuseStoredState(`${path}.source.file_id`)
    default:
      return refuseMember(`${path}.source.type`, 'Expected base64 or url')
  }
}

/** Documents with text become text. Only other kinds go on as files. */
const documentOf = (block: JsonObject, path: string, telling: TurnsContext): readonly Part[] => {
  const source = objectIn(block, 'source', path)
  const { title, context } = block
  const heads = [title, context].filter((head) => typeof head === 'string' && head !== '')
  if (source['type'] === 'text') {
    return [{ type: 'text', text: [...heads, textIn(source, 'data', `${path}.source`)].join('\n') }]
  }
  if (source['type'] === 'content') {
    const { content } = source
    const inner = typeof content === 'string' ? blocksOf(content) : objectsIn(source, 'content', `${path}.source`)
    return [
      ...heads.map((text) => ({ type: 'text', text: text as string })),
      ...inner.flatMap((item, at) => partsOf(item, `${path}.source.content.${at}`, telling)),
    ]
  }
  const file_data = addressOf(source, path)
  if (source['type'] === 'url' && telling.to === undefined) {
    return refuseMember(`${path}.source.type`, 'Expected base64 or text: the model takes no documents by address')
  }
  if (context != null) telling.drop('messages.content.context')
  return [{ type: 'file', file: { filename: typeof title === 'string' ? title : 'document.pdf', file_data } }]
}

/** Images that a tool gave go behind all results where a result may be text alone. */
const resultOf = (block: JsonObject, path: string, behind: Part[], telling: TurnsContext): Message => {
  tellOf(block, 'messages.content', telling.drop)
  if (block['is_error'] === true) telling.drop('messages.content.is_error')
  const { content } = block
  const inner = typeof content === 'string' ? blocksOf(content) : objectsIn(block, 'content', path)
  const parts = inner.flatMap((item, at) => partsOf(item, `${path}.content.${at}`, telling))
  const texts = parts.filter(({ type }) => type === 'text')
  const others = parts.filter(({ type }) => type !== 'text')
  const tool_call_id = textIn(block, 'tool_use_id', path)
  if (telling.to === 'generate-content' && others.length > 0) return { role: 'tool', tool_call_id, content: parts }
  behind.push(...others)
  return { role: 'tool', tool_call_id, content: texts.map(({ text }) => text).join('\n') }
}

/** A turn of the model. Thoughts come back as keepsakes, which only this gateway can open. */
const saidIn = (blocks: readonly JsonObject[], path: string, { to, seal, drop }: TurnsContext): Message => {
  const texts: string[] = []
  const calls: ToolCall[] = []
  const keepsakes: Keepsake[] = []
  for (const [at, block] of blocks.entries()) {
    const where = `${path}.${at}`
    tellOf(block, 'messages.content', drop)
    switch (block['type']) {
      case 'text':
        texts.push(textIn(block, 'text', where))
        break
      case 'tool_use':
        calls.push({
          id: textIn(block, 'id', where),
          type: 'function',
          function: {
            name: textIn(block, 'name', where),
            arguments: print(exact(objectIn(block, 'input', where))),
          },
        })
        break
      case 'thinking':
      case 'redacted_thinking': {
        const keepsake = readKeepsake(block['signature'] ?? block['data'], seal)
        if (keepsake !== null) keepsakes.push(keepsake)
        else if (to === 'messages' && !isKeepsake(block['signature'] ?? block['data']))
          keepsakes.push({ thoughts: [block] })
        else drop(`messages.content.${block['type']}`)
        break
      }
      default:
        drop(`messages.content.${block['type']}`)
    }
  }
  const text = texts.join('')
  const content = text === '' && calls.length > 0 ? null : text
  return restored({ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }, keepsakes, to, drop)
}
