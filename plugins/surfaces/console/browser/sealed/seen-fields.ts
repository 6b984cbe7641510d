/** One thing that travels: what it is called, and what can be read in it. */
export interface SeenField {
  readonly name: string
  /** The beginning of what stands there, and its size where it is sealed. */
  readonly shown: string
}

/** The parts of a body that the gateway can read. */
export interface SeenBody {
  readonly bytes: number
  readonly fields: readonly SeenField[]
}

export const nothingSeen: SeenBody = { bytes: 0, fields: [] }

const head = 24
const isSealed = (text: string): boolean => text.length > 16 && /^(?:[0-9a-f]{2})+$/i.test(text)

const sealedWords = (hex: string): string =>
  `${hex.length / 2} bytes: ${hex.slice(0, head)}${hex.length > head ? '…' : ''}`

const shownOf = (value: unknown): string => {
  if (typeof value === 'string' && isSealed(value)) return sealedWords(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 60 ? `${text.length} bytes: ${text.slice(0, head)}…` : text
}

const entriesOf = (value: unknown): readonly SeenField[] => {
  if (Array.isArray(value)) return [{ name: 'list', shown: `${value.length} entries` }]
  return typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, member]) => ({ name, shown: shownOf(member) }))
    : []
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The fields of JSON; what stands under `data` counts as the body itself. */
const jsonFields = (text: string): readonly SeenField[] => {
  const value = parsed(text)
  const { data } = (value ?? {}) as { readonly data?: unknown }
  return entriesOf(typeof data === 'object' && data !== null ? data : value)
}

const eventFields = (text: string): readonly SeenField[] => {
  const frames = [...text.matchAll(/^data: ([0-9a-f]{48,})$/gm)].map(([, hex = '']) => hex)
  return frames.map((hex, at) => ({ name: `frame ${at + 1}`, shown: sealedWords(hex) }))
}

/** The fields of a form with their texts; of its file the size alone. */
const formFields = (text: string): readonly SeenField[] =>
  [...text.matchAll(/name="([^"]+)"(;[^\r]*)?\r\n(?:[^\r]+\r\n)*\r\n([^]*?)\r\n--/g)].map(
    ([, name = '', file, value = '']) => ({
      name,
      shown: file === undefined ? shownOf(value) : `${value.length} bytes`,
    }),
  )

/** Reads a body without any key. `type` is its media type. */
export const seenBody = (bytes: Uint8Array, type: string): SeenBody => {
  // Each byte is one character, so that sizes hold.
  const text = new TextDecoder('latin1').decode(bytes)
  if (type.includes('json')) return { bytes: bytes.length, fields: jsonFields(text) }
  if (type.includes('event-stream')) return { bytes: bytes.length, fields: eventFields(text) }
  if (type.includes('form-data')) return { bytes: bytes.length, fields: formFields(text) }
  return { bytes: bytes.length, fields: [] }
}
