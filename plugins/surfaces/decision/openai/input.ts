import type { OrderedJson } from '../../../../core/ports/upstream.ts'
import { imageOf, type OrderedObject, type Report } from '../../../shared/decisions/typed-decision.ts'

/** What the questions are about, and the images in their order. */
export interface DecisionInput {
  readonly state: OrderedJson
  readonly images: readonly string[]
}

/** Images of one request. */
const mostImages = 16

/** Objects of JSON; null for any other value. */
export const objectOf = (value: OrderedJson | undefined): OrderedObject | null =>
  value instanceof Map ? (value as OrderedObject) : null

/** Input that is being read. */
interface Reading {
  readonly report: Report
  readonly images: string[]
  /** True where several turns stand in a row, so that the place of an image says something. */
  readonly marksImages: boolean
  readonly calls: Map<OrderedJson, OrderedJson>
}

/** The texts and JSON of parts; one part alone stands for itself. */
export const contentOf = (
  content: OrderedJson | undefined,
  path: string,
  report: Report,
  image: (url: OrderedJson | undefined, path: string) => OrderedJson | null,
): OrderedJson => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content) || content.length === 0) {
    report(path, 'expected a text or a list of parts')
    return null
  }
  const parts = (content as readonly OrderedJson[]).flatMap((part, at): readonly OrderedJson[] => {
    const fields = objectOf(part)
    const where = `${path}.${at}`
    switch (fields?.get('type')) {
      case 'input_text':
      case 'output_text':
        return [textOf(fields, 'text', where, report)]
      case 'refusal':
        return [textOf(fields, 'refusal', where, report)]
      case 'input_json':
        return [jsonOf(fields.get('data'), `${where}.data`, report)]
      case 'input_image': {
        const shown = image(fields.get('image_url'), `${where}.image_url`)
        return shown === null ? [] : [shown]
      }
      default:
        report(`${where}.type`, 'expected input_text, input_image or input_json')
        return []
    }
  })
  return parts.length === 1 ? parts[0]! : parts
}

const textOf = (fields: OrderedObject, name: string, path: string, report: Report): string => {
  const text = fields.get(name)
  if (typeof text === 'string') return text
  report(`${path}.${name}`, 'expected a text')
  return ''
}

const jsonOf = (value: OrderedJson | undefined, path: string, report: Report): OrderedJson => {
  const fits = Array.isArray(value) ? value.every((item) => item instanceof Map) : value instanceof Map
  if (!fits) report(path, 'expected an object or a list of objects')
  return value ?? null
}

/** Adds an image, and gives its mark where its place among turns matters. */
const taken =
  ({ report, images, marksImages }: Reading) =>
  (url: OrderedJson | undefined, path: string): string | null => {
    const image = typeof url === 'string' ? imageOf(url) : null
    if (image === null) report(path, 'expected a base64 data URL of a PNG, JPEG, WebP, GIF or BMP image')
    else if (images.length === mostImages) report(path, `expected ${mostImages} images at most`)
    else images.push(image)
    return marksImages ? `[image ${images.length}]` : null
  }

const map = (fields: Readonly<Record<string, OrderedJson>>): OrderedJson => new Map(Object.entries(fields))

/** The result of a call under the name of its tool. */
const outputOf = (fields: OrderedObject, path: string, reading: Reading): OrderedJson => {
  const name = reading.calls.get(fields.get('call_id') ?? null)
  if (name === undefined) reading.report(`${path}.call_id`, 'expected the call_id of a call before')
  const output = contentOf(fields.get('output'), `${path}.output`, reading.report, taken(reading))
  return map({ type: 'tool_output', name: name ?? null, output })
}

const callOf = (fields: OrderedObject, given: 'arguments' | 'input', path: string, reading: Reading): OrderedJson => {
  const { report, calls } = reading
  const name = textOf(fields, 'name', path, report)
  calls.set(textOf(fields, 'call_id', path, report), name)
  return map({ type: 'tool_call', name, [given]: textOf(fields, given, path, report) })
}

const roles: readonly unknown[] = ['user', 'assistant', 'system', 'developer']

const turnOf = (item: OrderedJson, path: string, reading: Reading): OrderedJson => {
  const fields = objectOf(item)
  switch (fields?.get('type') ?? 'message') {
    case 'message': {
      const role = fields?.get('role')
      if (!fields || !roles.includes(role)) {
        reading.report(`${path}.role`, 'expected user, assistant, system or developer')
        return null
      }
      const content = contentOf(fields.get('content'), `${path}.content`, reading.report, taken(reading))
      return map({ role: role as string, content })
    }
    case 'function_call':
      return callOf(fields!, 'arguments', path, reading)
    case 'custom_tool_call':
      return callOf(fields!, 'input', path, reading)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return outputOf(fields!, path, reading)
    default:
      reading.report(`${path}.type`, 'expected a message, or a call of a tool or the output of one')
      return null
  }
}

/** The state of a request: the content of a message of the user that stands alone, else the turns. */
export const inputOf = (input: OrderedJson | undefined, report: Report): DecisionInput => {
  if (typeof input === 'string') return { state: input, images: [] }
  if (!Array.isArray(input) || input.length === 0) {
    report('input', 'expected a text or a list of items')
    return { state: null, images: [] }
  }
  const items = input as readonly OrderedJson[]
  const reading: Reading = { report, images: [], marksImages: items.length > 1, calls: new Map() }
  const turns = items.map((item, at) => turnOf(item, `input.${at}`, reading))
  const only = items.length === 1 ? objectOf(turns[0]!) : null
  return { state: only?.get('role') === 'user' ? only.get('content')! : turns, images: reading.images }
}
