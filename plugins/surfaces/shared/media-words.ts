import * as v from 'valibot'
import type { Operation } from '../../../core/ports/chapter.ts'

const events = 'With `stream`: events of the common format.'

const embedded = v.object({
  object: v.literal('list'),
  data: v.array(
    v.object({
      object: v.literal('embedding'),
      index: v.number(),
      embedding: v.union([v.array(v.number()), v.string()]),
    }),
  ),
  model: v.string(),
  usage: v.object({ prompt_tokens: v.number(), total_tokens: v.number() }),
})

const drawn = v.looseObject({
  created: v.number(),
  data: v.array(
    v.object({
      b64_json: v.optional(v.string()),
      url: v.optional(v.string()),
      revised_prompt: v.optional(v.string()),
    }),
  ),
})

const transcript = v.looseObject({ text: v.string() })

const picture = { created: 1700000000, data: [{ b64_json: 'iVBORw0KGgo=' }] }
const drawing = { shape: drawn, answer: picture, types: { 'text/event-stream': events }, statuses: [502] }

const transcribing = (about: string): Operation => ({
  about,
  form: { model: 'whisper-1', file: '@speech.wav', response_format: 'json' },
  shape: transcript,
  answer: { text: 'The heron waits.' },
  types: {
    'text/plain': 'With `response_format` of `text`, `srt` or `vtt`: the text or subtitles.',
    'text/event-stream': events,
  },
  statuses: [502],
})

/** The operations by method and path, with examples that the tests check. */
export const mediaOperations: Readonly<Record<string, Operation>> = {
  'POST /std/embeddings': {
    about: 'At most 2,048 texts go into one request.',
    body: { model: 'rehearsal-embedding', input: ['A heron waits.', 'The ferry leaves.'] },
    shape: embedded,
    answer: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.12, -0.03] }],
      model: 'rehearsal-embedding',
      usage: { prompt_tokens: 8, total_tokens: 8 },
    },
    statuses: [502],
  },
  'POST /std/images/generations': {
    about: 'Nothing is stored, so a `url` is a data URL.',
    body: { model: 'gpt-image-1', prompt: 'A heron at dusk', size: '1024x1024' },
    ...drawing,
  },
  'POST /std/images/edits': {
    about: 'At most 16 images go into one request.',
    form: { model: 'gpt-image-1', prompt: 'Make it night', image: '@heron.png' },
    ...drawing,
  },
  'POST /std/audio/transcriptions': transcribing('Other fields go to the backend as they are.'),
  'POST /std/audio/translations': transcribing('Other fields go to the backend as they are.'),
  'POST /std/audio/speech': {
    about: 'Nothing is stored.',
    body: { model: 'gpt-4o-mini-tts', input: 'The ferry leaves at noon.', voice: 'alloy', response_format: 'mp3' },
    types: {
      'audio/mpeg': 'The sound, in the format that `response_format` names.',
      'text/event-stream': 'With `stream_format` of `sse`: events with pieces of the sound.',
    },
    statuses: [502],
  },
}

/** Sentences for the members of all these operations together. */
export const mediaWords = {
  'body.input': 'What goes in: one text or several, or lists of tokens.',
  'body.encoding_format': 'Whether vectors come as numbers or as base64 of 32-bit floats.',
  'body.dimensions': 'The length of the vectors, where the model lets callers choose.',
  'body.user': 'A name of the caller’s own user, for windows of end users. It stays here.',
  'answer.object': 'The word `list`.',
  'data.object': 'The word `embedding`.',
  'data.index': 'The place of the input, from 0.',
  'data.embedding': 'The vector.',
  'answer.model': 'The model as the caller named it.',
  'answer.data': 'The results, in the order of the inputs.',
  'body.prompt': 'What the image shows, or words that help to spell what is said.',
  'body.n': 'The number of images.',
  'body.size': 'The size in pixels, or `auto`.',
  'body.partial_images': 'Drafts to show on the way. The gateway sends whole images alone.',
  'body.response_format': 'The form of the answer.',
  'body.image': 'An image, or several fields `image[]`.',
  'body.mask': 'An image whose transparent parts say where to draw.',
  'answer.created': 'The time of the answer, in Unix seconds.',
  'data.b64_json': 'The image as base64.',
  'data.url': 'The image as a data URL.',
  'data.revised_prompt': 'The prompt as the backend rewrote it.',
  'body.file': 'The sound, such as WAV, MP3, OGG, FLAC or WebM.',
  'body.language': 'The language that is spoken, as its code.',
  'body.timestamp_granularities': 'Whether words, segments or both have times. The name may end in `[]`.',
  'answer.text': 'What is said.',
  'body.voice': 'The name of a voice of the backend.',
  'body.instructions': 'How the text is spoken.',
  'body.speed': 'The speed of the speech, from 0.25 to 4.',
  'body.stream_format': 'Whether the sound comes as bytes or as events.',
} as const
