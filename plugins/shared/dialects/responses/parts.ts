import type { Part } from '../../../../core/ports/upstream.ts'
import { refuseMember, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { objectIn, refuseStoredState, textIn } from '../../members.ts'
import type { Drop } from '../translated-request.ts'
import type { InputItem } from './shape.ts'

/** Parts of a message or of a tool's result. A text alone is the short spelling of one part; no content has no parts. */
export const partsOf = (content: InputItem['content'], path: string, drop: Drop): readonly Part[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const parts: Part[] = []
  for (const [at, part] of (content ?? []).entries()) {
    const common = partOf(part, `${path}.content.${at}`)
    if (common === null) drop(`input.content.${part['type']}`)
    else parts.push(common)
  }
  return parts
}

/** Null for a kind that the common format has no likeness of. */
const partOf = (part: JsonObject, path: string): Part | null => {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return { type: 'text', text: textIn(part, 'text', path) }
    case 'refusal':
      return { type: 'text', text: textIn(part, 'refusal', path) }
    case 'input_image':
      return imageOf(part, path)
    case 'input_audio':
      return { type: 'input_audio', input_audio: objectIn(part, 'input_audio', path) }
    case 'input_file':
      return fileOf(part, path)
    default:
      return null
  }
}

const imageOf = (part: JsonObject, path: string): Part => {
  if (part['file_id'] != null) refuseStoredState(`${path}.file_id`)
  const { detail } = part
  const url = textIn(part, 'image_url', path)
  return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' && { detail }) } }
}

const fileOf = (part: JsonObject, path: string): Part => {
  if (part['file_id'] != null) refuseStoredState(`${path}.file_id`)
  if (part['file_url'] != null) refuseMember(`${path}.file_url`, 'Expected none: send the file itself as file_data')
  const { filename } = part
  const file_data = textIn(part, 'file_data', path)
  return { type: 'file', file: { ...(typeof filename === 'string' && { filename }), file_data } }
}

/** A single text stands as a string, which every backend takes. */
export const singleTextOrParts = (parts: readonly Part[]): string | readonly Part[] =>
  parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => text).join('') : parts
