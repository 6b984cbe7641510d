import { writeFile } from 'node:fs/promises'

/** A language model of a few kilobytes with random weights, the same for the same seed: it says nothing, but by every rule. */
export const writeModel = (file: string, seed = 1, template = chatTemplate): Promise<void> => {
  const vocabulary = words()
  const fields: readonly (readonly [string, Value])[] = [
    ['general.architecture', 'llama'],
    ['general.name', 'random'],
    ['llama.context_length', whole(2048)],
    ['llama.embedding_length', whole(width)],
    ['llama.block_count', whole(1)],
    ['llama.feed_forward_length', whole(2 * width)],
    ['llama.attention.head_count', whole(2)],
    ['llama.attention.head_count_kv', whole(2)],
    ['llama.rope.dimension_count', whole(width / 2)],
    ['llama.attention.layer_norm_rms_epsilon', float(1e-5)],
    ['llama.vocab_size', whole(vocabulary.length)],
    ['tokenizer.ggml.model', 'llama'],
    ['tokenizer.ggml.tokens', { of: 8, each: vocabulary.map(({ text }) => string(text)) }],
    ['tokenizer.ggml.scores', { of: 6, each: vocabulary.map(({ score }) => float(score).bytes) }],
    ['tokenizer.ggml.token_type', { of: 5, each: vocabulary.map(({ type }) => whole(type).bytes) }],
    ['tokenizer.ggml.bos_token_id', whole(1)],
    ['tokenizer.ggml.eos_token_id', whole(2)],
    ['tokenizer.ggml.unknown_token_id', whole(0)],
    ['tokenizer.chat_template', template],
  ]
  const next = numbers(seed)
  const tensors = shapes(vocabulary.length).map(({ name, shape }) => {
    const size = shape.reduce((product, value) => product * value, 1)
    // A norm scales by one; everything else is noise, little at the end so that each token has its chance.
    const noise = name === 'output.weight' ? 0.3 : 1
    const value = () => (shape.length === 1 ? 1 : noise * (next() - 0.5))
    return { name, shape, values: Float32Array.from({ length: size }, value) }
  })
  let offset = 0
  const infos = tensors.flatMap(({ name, shape, values }) => {
    const info = [string(name), number(shape.length), ...shape.map(long), number(0), long(offset)]
    offset += Math.ceil(values.byteLength / 32) * 32
    return info
  })
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    number(3),
    long(tensors.length),
    long(fields.length),
    ...fields.flatMap(([key, value]) => [string(key), encoded(value)]),
    ...infos,
  ])
  const body = tensors.map(({ values }) => padded(Buffer.from(values.buffer)))
  return writeFile(file, Buffer.concat([padded(head), ...body]))
}

const width = 32

export const chatTemplate =
  "{{ bos_token }}{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}\n{% endfor %}" +
  '{% if add_generation_prompt %}[assistant] {% endif %}'

/** Control, bytes, single characters, and the words that decisions are answered with. */
const words = () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
  const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789']
  const answers = ['yes', 'Yes', 'YES', 'no', 'No', 'NO']
  const plain = ['\u2581', '.', ':', '?', ...[...letters, ...answers].flatMap((letter) => [letter, `\u2581${letter}`])]
  return [
    { text: '<unk>', score: 0, type: 2 },
    { text: '<s>', score: 0, type: 3 },
    { text: '</s>', score: 0, type: 3 },
    ...bytes.map((text) => ({ text, score: 0, type: 6 })),
    ...plain.map((text, place) => ({ text, score: -place - 1, type: 1 })),
  ]
}

const shapes = (vocabulary: number): readonly { readonly name: string; readonly shape: readonly number[] }[] => [
  { name: 'token_embd.weight', shape: [width, vocabulary] },
  { name: 'output_norm.weight', shape: [width] },
  { name: 'output.weight', shape: [width, vocabulary] },
  { name: 'blk.0.attn_norm.weight', shape: [width] },
  ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((text) => ({
    name: `blk.0.${text}.weight`,
    shape: [width, width],
  })),
  { name: 'blk.0.ffn_norm.weight', shape: [width] },
  { name: 'blk.0.ffn_gate.weight', shape: [width, 2 * width] },
  { name: 'blk.0.ffn_up.weight', shape: [width, 2 * width] },
  { name: 'blk.0.ffn_down.weight', shape: [2 * width, width] },
]

/** From 0 to 1, in the same order for the same seed. */
const numbers = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

type Value =
  string | { readonly of: number; readonly bytes: Buffer } | { readonly of: number; readonly each: readonly Buffer[] }

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const long = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

const string = (text: string): Buffer => Buffer.concat([long(Buffer.byteLength(text)), Buffer.from(text)])
const whole = (value: number) => ({ of: 4, bytes: number(value) })
const float = (value: number) => ({ of: 6, bytes: Buffer.from(Float32Array.of(value).buffer) })
const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)])

const encoded = (value: Value): Buffer => {
  if (typeof value === 'string') return Buffer.concat([number(8), string(value)])
  if ('bytes' in value) return Buffer.concat([number(value.of), value.bytes])
  return Buffer.concat([number(9), number(value.of), long(value.each.length), ...value.each])
}
