import type { Part } from '../../../../core/ports/upstream.ts'
import {
  objectIn,
  refuseMember,
  refuseStoredState,
  textIn,
  type JsonObject,
} from '../../../../core/dialects/json-object.ts'
import type { Drop } from '../translated-request.ts'
import type { InputItem } from './shape.ts'

/** A text alone is the short spelling of one part. Null and absent content has no parts. */
export const contentParts = (content: InputItem['content']): readonly JsonObject[] =>
  typeof content === 'string' ? [{ type: 'input_text', text: content }] : (content ?? [])

/** Parts of a message or of a tool's result. */
export const partsOf = (content: InputItem['content'], path: string, drop: Drop): readonly Part[] =>
  contentParts(content).flatMap((part, at) => {
    const where = `${path}.content.${at}`
    switch (part['type']) {
      case 'input_text':
      case 'output_text':
      case 'text':
      case 'summary_text':
      case 'reasoning_text':
        return [{ type: 'text', text: textIn(part, 'text', where) }]
      case 'refusal':
        return [{ type: 'text', text: textIn(part, 'refusal', where) }]
      case 'input_image':
        return [imageOf(part, where)]
      case 'input_audio':
        return [{ type: 'input_audio', input_audio: objectIn(part, 'input_audio', where) }]
      case 'input_file':
        return [fileOf(part, where)]
      default:
        drop(`input.content.${part['type']}`)
        return []
    }
  })

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
