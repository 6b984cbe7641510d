import { jsonTake } from '../fakes/at-work.ts'
import type { Asked, Take } from '../fakes/recorded.ts'

/**
 * Behind the socket: a model that sees, thinks and decides, one that draws, one that listens, a page, and a search engine
 * that repeats what it was asked.
 */
export const play = (request: Asked): Take => {
  const { path, body } = request
  if (path.endsWith('/images/generations')) return jsonTake({ created: 1, data: [{ b64_json: png }] })
  if (path.endsWith('/audio/transcriptions')) return heard(body.toString('latin1'))
  if (path.startsWith('/search'))
    return jsonTake({ results: [{ title: path, url: 'https://example.org/', content: '' }] })
  if (path.startsWith('/page')) return { headers: { 'content-type': 'text/html' }, body: page }
  return path.endsWith('/chat/completions') ? answered(JSON.parse(body.toString()) as Chat) : jsonTake({ data: [] })
}

interface Chat {
  readonly stream?: boolean
  readonly logprobs?: boolean
  readonly messages: readonly { readonly content: string | readonly { readonly text?: string }[] }[]
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const page = '<!doctype html><title>Herons</title><article><h1>Herons</h1><p>The heron waits at the pond.</p></article>'

const heard = (form: string): Take => {
  const language = /name="language"\r\n\r\n(\w+)/.exec(form)?.[1] ?? 'none'
  const text = `The heron waits in ${language}.`
  const segments = [{ id: 0, start: 0, end: 2, text }]
  return jsonTake({ task: 'transcribe', language: 'en', duration: 2, text, segments })
}

const usage = {
  prompt_tokens: 10,
  completion_tokens: 8,
  total_tokens: 18,
  completion_tokens_details: { reasoning_tokens: 3 },
}

const caption = JSON.stringify({ caption: 'A heron', description: 'Grey', objects: [], text: '', scenes: [] })

const answered = ({ stream, logprobs, messages }: Chat): Take => {
  if (stream) return events()
  const message = { role: 'assistant', content: caption, reasoning_content: 'It is grey.' }
  const shown = logprobs ? decided(messages) : { message, finish_reason: 'stop' }
  return jsonTake({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'its-own-name',
    choices: [{ index: 0, ...shown }],
    usage,
  })
}

/** Every mark that the prompt offers, each as likely as its place: the last one most. */
const decided = (messages: Chat['messages']) => {
  const content = messages.at(-1)!.content
  const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('\n')
  const marks = [...text.matchAll(/^([A-Z]|\d|yes|no)(?::.*)?$/gm)].map(([, mark]) => mark!)
  const sum = (marks.length * (marks.length + 1)) / 2
  const likely = marks.map((token, at) => ({ token, logprob: Math.log((at + 1) / sum) }))
  const message = { role: 'assistant', content: marks.at(-1) ?? '' }
  const first = { token: marks.at(-1) ?? '', logprob: -0.1, top_logprobs: likely }
  return { message, finish_reason: 'length', logprobs: { content: [first] } }
}

const events = (): Take => {
  const chunk = (delta: object, finish_reason: string | null, more: object = {}) =>
    `data: ${JSON.stringify({
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'its-own-name',
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    })}\n\n`
  const body = [
    chunk({ role: 'assistant', reasoning_content: 'It is grey.' }, null),
    chunk({ content: 'A ' }, null),
    chunk({ content: 'heron' }, null),
    chunk({}, 'stop', { usage }),
    'data: [DONE]\n\n',
  ]
  return { headers: { 'content-type': 'text/event-stream' }, body: body.join('') }
}
