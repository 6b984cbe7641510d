import { print } from '../../../../core/dialects/json.ts'
import { exact, keepWording } from '../../long-numbers.ts'
import type { Message, Part, ToolCall } from '../../../../core/ports/upstream.ts'
import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { refuseMember, objectIn, refuseStoredState, textIn } from '../../members.ts'
import { signed } from './signed.ts'
import { isKeepsake, readKeepsake, restored, type Keepsake, type TurnsContext } from '../keepsake.ts'
import type { Drop } from '../translated-request.ts'
import type { GenerateRequest } from './shape.ts'
import { camel } from './spelling.ts'

/** Calls may come without ids: each then has its place in the conversation for one, and answers find it by name. */
interface Calls {
  made: number
  /** By name: ids of calls, and how many of them were answered. */
  readonly named: Map<string, { readonly ids: string[]; answered: number }>
}

/** The contents as messages. */
export const messagesOf = ({ contents }: GenerateRequest, telling: TurnsContext): readonly Message[] => {
  keepWording(contents)
  const calls: Calls = { made: 0, named: new Map() }
  const messages: Message[] = []
  for (let at = 0; at < contents.length; at++) {
    const { role, parts } = contents[at]!
    const path = `contents.${at}`
    const spelled = parts.map(camel)
    if (role !== 'model') {
      messages.push(...askedIn(spelled, path, calls, telling))
      continue
    }
    // Clients give the pieces of a streamed answer back as contents of their own.
    while (contents[at + 1]?.role === 'model') spelled.push(...contents[++at]!.parts.map(camel))
    messages.push(saidIn(spelled, path, calls, telling))
  }
  return messages.length > 0 ? messages : refuseMember('contents', 'Expected a content with parts')
}

/** The text of a system instruction. */
export const instructionOf = (instruction: GenerateRequest['systemInstruction'], drop: Drop): string => {
  if (instruction == null) return ''
  if (typeof instruction === 'string') return instruction
  const texts: string[] = []
  for (const { text } of instruction.parts) {
    if (typeof text === 'string') texts.push(text)
    else drop('systemInstruction.parts')
  }
  return texts.join('\n\n')
}

const askedIn = (
  parts: readonly JsonObject[],
  path: string,
  calls: Calls,
  telling: TurnsContext,
): readonly Message[] => {
  const results: Message[] = []
  const others: Part[] = []
  for (const [at, part] of parts.entries()) {
    const where = `${path}.parts.${at}`
    if (part['functionResponse'] !== undefined) results.push(resultOf(part, where, calls, telling.drop))
    else others.push(...partOf(part, where, telling))
  }
  if (others.length === 0) return results
  const alone = others.every(({ type }) => type === 'text')
  const content = alone && others.length === 1 ? others[0]!.text! : others
  return [...results, { role: 'user', content }]
}

const partOf = (part: JsonObject, path: string, { to, drop }: TurnsContext): readonly Part[] => {
  if (typeof part['text'] === 'string') return [{ type: 'text', text: part['text'] }]
  if (part['inlineData'] !== undefined) {
    const { mimeType, data } = camel(objectIn(part, 'inlineData', path))
    const url = `data:${mimeType};base64,${data}`
    return [mediaOf(String(mimeType), url, String(data))]
  }
  if (part['fileData'] !== undefined) {
    const { mimeType, fileUri } = camel(objectIn(part, 'fileData', path))
    if (isStored(fileUri)) return refuseStoredState(`${path}.fileData.fileUri`)
    if (String(mimeType ?? 'image/').startsWith('image/')) {
      return [{ type: 'image_url', image_url: { url: String(fileUri) } }]
    }
    if (to === 'generate-content') return [{ type: 'file', file: { file_data: String(fileUri) } }]
    return refuseMember(`${path}.fileData`, 'Expected inlineData: the model takes no files by address')
  }
  for (const name of Object.keys(part)) drop(`contents.parts.${name}`)
  return []
}

/** Whether only the vendor's own store, or the provider's account, could resolve the address. */
export const isStored = (uri: unknown): boolean =>
  typeof uri !== 'string' || !/^https?:/i.test(uri) || /^https?:\/\/[^/]*googleapis\.com\//i.test(uri)

const mediaOf = (mime: string, url: string, data: string): Part => {
  const [kind, format] = mime.split('/')
  if (kind === 'image') return { type: 'image_url', image_url: { url } }
  if (kind === 'audio')
    return { type: 'input_audio', input_audio: { data, format: format === 'mpeg' ? 'mp3' : format } }
  if (kind === 'video') return { type: 'video_url', video_url: { url } }
  return { type: 'file', file: { filename: `file.${format ?? 'bin'}`, file_data: url } }
}

const resultOf = (part: JsonObject, path: string, calls: Calls, drop: Drop): Message => {
  const { id, name, response, parts } = camel(objectIn(part, 'functionResponse', path))
  if (parts !== undefined) drop('contents.parts.functionResponse.parts')
  const named = calls.named.get(String(name))
  const first = named?.ids[named.answered++]
  const { output, ...others } = isJsonObject(response) ? response : { output: response }
  const text = typeof output === 'string' && Object.keys(others).length === 0
  return {
    role: 'tool',
    tool_call_id: typeof id === 'string' ? id : (first ?? String(name)),
    content: text ? output : print(exact(response ?? {})),
  }
}

const saidIn = (parts: readonly JsonObject[], path: string, calls: Calls, telling: TurnsContext): Message => {
  const { to, seal, drop } = telling
  const texts: string[] = []
  const made: ToolCall[] = []
  const keepsakes: Keepsake[] = []
  let extra: JsonObject = {}
  for (const [at, part] of parts.entries()) {
    const { thoughtSignature: signature } = part
    const keepsake = readKeepsake(signature, seal)
    if (keepsake !== null) keepsakes.push(keepsake)
    else if (signature !== undefined && (to !== 'generate-content' || isKeepsake(signature))) {
      drop('contents.parts.thoughtSignature')
    }
    const signatures = keepsake === null && to === 'generate-content' ? signed(signature) : {}
    if (part['functionCall'] !== undefined) made.push({ ...callOf(part, `${path}.parts.${at}`, calls), ...signatures })
    else if (part['thought'] === true) {
      if (keepsake === null && part['text'] !== '') drop('contents.parts.thought')
    } else if (typeof part['text'] === 'string') {
      texts.push(part['text'])
      extra = { ...extra, ...signatures }
    } else drop(`contents.parts.${Object.keys(part)[0] ?? 'empty'}`)
  }
  const text = texts.join('')
  const content = text === '' && made.length > 0 ? null : text
  const message = { role: 'assistant', content, ...(made.length > 0 && { tool_calls: made }), ...extra }
  return restored(message, keepsakes, to, drop)
}

const callOf = (part: JsonObject, path: string, calls: Calls): ToolCall => {
  const call = objectIn(part, 'functionCall', path)
  const name = textIn(call, 'name', `${path}.functionCall`)
  const id = typeof call['id'] === 'string' ? call['id'] : `call_${calls.made}`
  calls.made++
  const named = calls.named.get(name)
  if (named === undefined) calls.named.set(name, { ids: [id], answered: 0 })
  else named.ids.push(id)
  const json = print(exact(objectIn(call, 'args', `${path}.functionCall`)))
  return { id, type: 'function', function: { name, arguments: json } }
}
