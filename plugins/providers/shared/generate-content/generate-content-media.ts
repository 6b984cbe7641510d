import { BadRequest } from '../../../../core/errors.ts'
import type {
  DrawCall,
  Drawn,
  EditCall,
  Media,
  MediaFile,
  SpeakCall,
  Spoken,
  TranscribeCall,
  TranscribeOption,
  Transcript,
} from '../../../../core/ports/upstream.ts'
import { garbled, parseObject } from '../../../shared/backend.ts'
import { ratioOf } from '../aspect-ratio.ts'
import { voiceName } from '../voice-name.ts'
import { blockOf, isFiltered, saidOf } from './generate-content-answers.ts'
import type { Said, SaidPart } from './said-parts.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'

const contentsOf = (...parts: readonly JsonObject[]): JsonObject => ({ contents: [{ role: 'user', parts }] })

/** What it has given; throws BadRequest for what it would not give. */
const given = (answer: Said): readonly SaidPart[] => {
  const candidate = answer.candidates?.[0]
  if (blockOf(answer) !== null || isFiltered(candidate?.finishReason)) {
    throw new BadRequest('The backend refused the request', { cause: new Error('Filtered') })
  }
  if (candidate?.finishReason !== 'STOP') throw garbled('An answer that is not done')
  return candidate.content?.parts ?? []
}

/** Throws BadRequest for a format, a speed or a voice that the models lack. */
export const speakBody = (call: SpeakCall, byDefault: string): JsonObject => {
  const { text, instructions, speed, format } = call
  if (format !== undefined && format !== 'wav' && format !== 'pcm') {
    throw new BadRequest('The model speaks wav and pcm alone', {
      validator: { response_format: 'expected wav or pcm' },
    })
  }
  if (speed !== undefined && speed !== 1) {
    throw new BadRequest('The model speaks at its own speed', { validator: { speed: 'expected 1' } })
  }
  const voiceConfig = { prebuiltVoiceConfig: { voiceName: voiceName(call) ?? byDefault } }
  // Gemini's models read the way of speaking in front of the text.
  const prompt = instructions === undefined || instructions === '' ? text : `${instructions}:\n${text}`
  return {
    ...contentsOf({ text: prompt }),
    generationConfig: { responseModalities: ['AUDIO'], speechConfig: { voiceConfig } },
  }
}

/** Raw samples become WAV unless the caller wants them raw. Throws BadRequest when a filter stopped the answer. */
export const speechOf = (body: JsonObject, format: string | undefined): Media => {
  const sounds = given(saidOf(body)).flatMap(({ inlineData }) => (inlineData?.data ? [inlineData] : []))
  if (sounds.length === 0) throw garbled('No speech in the answer')
  const mime = sounds[0]?.mimeType ?? ''
  const bytes = Buffer.concat(sounds.map(({ data }) => Buffer.from(data ?? '', 'base64')))
  if (!/^audio\/(l16|pcm)/i.test(mime)) {
    return format === 'pcm' ? { mime: 'audio/pcm', bytes: samplesOf(bytes) } : { mime, bytes }
  }
  if (format === 'pcm') return { mime: 'audio/pcm', bytes }
  return { mime: 'audio/wav', bytes: wav(bytes, Number(/rate=(\d+)/.exec(mime)?.[1] ?? 24_000)) }
}

/** 16 bits, one channel. */
const wav = (samples: Buffer, rate: number): Buffer => {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + samples.length, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}

/** The samples of a WAV file. Throws UpstreamFailed when the file has none. */
const samplesOf = (file: Buffer): Buffer => {
  if (file.toString('latin1', 0, 4) !== 'RIFF') throw garbled('A sound that is no wav')
  for (let at = 12; at + 8 <= file.length;) {
    const size = file.readUInt32LE(at + 4)
    if (file.toString('latin1', at, at + 4) === 'data') return file.subarray(at + 8, at + 8 + size)
    at += 8 + size + (size % 2)
  }
  throw garbled('A wav without samples')
}

/** Width to height. */
const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

/** Fields of the common image format that they have nothing like. */
const unheard =
  /^(response_format|quality|style|background|moderation|output_format|output_compression|user|stream|partial_images|provider|input_fidelity)$/

const inlined = ({ mime, bytes }: MediaFile): JsonObject => ({
  inlineData: {
    mimeType: mime,
    data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
  },
})

/** Throws BadRequest for a mask: their models go by the text alone. */
export const editBody = ({ images, mask, ...call }: EditCall): JsonObject => {
  if (mask !== undefined) {
    throw new BadRequest('The model takes no mask', { validator: { mask: 'expected none' } })
  }
  const { contents: _, ...body } = drawBody(call)
  return { ...body, ...contentsOf(...images.map(inlined), { text: call.prompt }) }
}

/** A size becomes the nearest shape. Fields that Gemini does not know are left out. */
export const drawBody = ({ prompt, size, extra = {} }: DrawCall): JsonObject => {
  const aspectRatio = size === undefined ? null : ratioOf(size, ratios)
  const { generationConfig, ...others } = extra
  return {
    ...Object.fromEntries(Object.entries(others).filter(([name]) => !unheard.test(name))),
    ...contentsOf({ text: prompt }),
    generationConfig: {
      responseModalities: ['IMAGE'],
      ...(aspectRatio !== null && { imageConfig: { aspectRatio } }),
      ...(generationConfig as JsonObject | undefined),
    },
  }
}

/** Images with their usage in the words of the common format. */
export const drawnOf = (answers: readonly JsonObject[]): Drawn => {
  const counts = answers.map(({ usageMetadata }) => (usageMetadata ?? {}) as Readonly<Record<string, unknown>>)
  const sum = (...names: readonly string[]) =>
    counts.reduce((all, counted) => all + names.reduce((one, name) => one + Number(counted[name] ?? 0), 0), 0)
  const [input_tokens, output_tokens] = [sum('promptTokenCount'), sum('candidatesTokenCount', 'thoughtsTokenCount')]
  const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }
  return Object.assign(answers.flatMap(imagesOf), input_tokens > 0 && { about: { usage } })
}

/** The images of an answer. Thoughts may contain drafts, which are left out. Throws UpstreamFailed without images. */
export const imagesOf = (body: JsonObject): readonly Media[] => {
  const images = given(saidOf(body)).flatMap(({ inlineData, thought }) =>
    inlineData?.data && !thought ? inlineData : [],
  )
  if (images.length === 0) throw garbled('No image in the answer')
  return images.map(({ mimeType, data }) => ({
    mime: mimeType ?? 'image/png',
    bytes: Buffer.from(data ?? '', 'base64'),
  }))
}

/** The schema in which a chat model answers. */
const transcript = {
  type: 'object',
  properties: {
    language: { type: 'string', description: 'The ISO 639-1 code of the spoken language.' },
    segments: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          text: { type: 'string' },
          start: { type: 'number', description: 'Seconds from the beginning.' },
          end: { type: 'number', description: 'Seconds from the beginning.' },
          speaker: { type: 'integer', description: 'The speakers are counted from 0 in the order they are heard.' },
        },
        required: ['text', 'start', 'end'],
      },
    },
  },
  required: ['language', 'segments'],
}

/** Transcription models take their options as fields, all others as a prompt. */
const isMadeForIt = (model: string): boolean => model.includes('transcribe')

/** Throws BadRequest when a transcription model is asked to translate. */
export const transcribeBody = (call: TranscribeCall): JsonObject => {
  const { model, audio, translate, language, prompt, temperature, diarize, smartFormat, granularities = [] } = call
  const sound = inlined(audio)
  const warmth = temperature === undefined ? {} : { temperature }
  if (isMadeForIt(model)) {
    if (translate) throw new BadRequest('The model does not translate')
    const timed = granularities.includes('word')
    const audioTranscriptionConfig = {
      ...(language !== undefined && { languageCodes: [language] }),
      ...(timed && { wordTimestamp: true }),
      ...(diarize && { diarization: true }),
      // It goes with neither of the two.
      ...(smartFormat && !timed && !diarize && { mode: 'SMART' }),
    }
    return { ...contentsOf(sound), generationConfig: { ...warmth, audioTranscriptionConfig } }
  }
  const words = [
    translate ? 'Transcribe this recording, translated into English.' : 'Transcribe this recording word by word.',
    'Begin a new segment with each sentence and each speaker.',
    ...(language === undefined ? [] : [`The spoken language is ${language}.`]),
    ...(diarize ? ['Tell the speakers apart.'] : []),
    ...(smartFormat ? ['Write dates, times and numbers in figures, with punctuation.'] : []),
    ...(prompt === undefined ? [] : [`What is known of it: ${prompt}`]),
  ]
  const generationConfig = { ...warmth, responseMimeType: 'application/json', responseJsonSchema: transcript }
  return { ...contentsOf({ text: words.join(' ') }, sound), generationConfig }
}

/** What neither the fields nor the words of a request can ask for. */
const ignoredBy = (call: TranscribeCall): readonly TranscribeOption[] => {
  const {
    model,
    language,
    prompt,
    punctuate,
    utterances,
    detectLanguage,
    diarize,
    smartFormat,
    granularities = [],
  } = call
  const [isMade, timed] = [isMadeForIt(model), granularities.includes('word')]
  const ignored: Partial<Record<TranscribeOption, boolean>> = {
    prompt: isMade && prompt !== undefined,
    smartFormat: isMade && smartFormat === true && (timed || diarize === true),
    granularities: !isMade && timed,
    punctuate: punctuate === false,
    utterances: utterances === false,
    detectLanguage: detectLanguage !== undefined && detectLanguage === (language !== undefined),
  }
  return (Object.keys(ignored) as TranscribeOption[]).filter((name) => ignored[name])
}

/** "1.250s". */
const seconds = (offset: unknown): number => Number.parseFloat(String(offset ?? 0)) || 0

/** Throws BadRequest when a filter stopped the answer, and UpstreamFailed for an answer without a transcript. */
export const transcriptOf = (body: JsonObject, call: TranscribeCall): Transcript => {
  const parts = given(saidOf(body))
  const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('')
  const transcript = isMadeForIt(call.model) ? heard(parts, text, call.language ?? null) : read(text)
  return { ...transcript, ignored: ignoredBy(call) }
}

/** Times are in seconds. Labels of speakers become numbers in the order they are heard. */
const heard = (parts: readonly SaidPart[], text: string, language: string | null): Transcript => {
  const speakers = new Map<unknown, number>()
  const told = parts.flatMap(({ audioTranscription: transcription }) =>
    transcription === undefined ? [] : [transcription as JsonObject],
  )
  const spokenBy = ({ speakerLabel: label }: JsonObject) => {
    if (typeof label !== 'string') return {}
    const speaker = speakers.get(label) ?? speakers.size
    speakers.set(label, speaker)
    return { speaker }
  }
  const pieces = told.map((piece) => {
    const by = spokenBy(piece)
    const words = ((piece['words'] ?? []) as readonly JsonObject[]).map(({ word, startOffset, endOffset }): Spoken => ({
      text: String(word ?? ''),
      start: seconds(startOffset),
      end: seconds(endOffset),
      ...by,
    }))
    const start = piece['startOffset'] === undefined ? (words[0]?.start ?? 0) : seconds(piece['startOffset'])
    const end = piece['endOffset'] === undefined ? (words.at(-1)?.end ?? start) : seconds(piece['endOffset'])
    return { segment: { text: String(piece['text'] ?? ''), start, end, ...by }, words }
  })
  const spoken = told.find((piece) => typeof piece['languageCode'] === 'string')?.['languageCode'] as string | undefined
  return {
    text: text || pieces.map(({ segment }) => segment.text).join(' '),
    language: spoken ?? language,
    duration: null,
    segments: pieces.map(({ segment }) => segment),
    words: pieces.flatMap(({ words }) => words),
  }
}

/** The answer of a chat model in the form of the schema `transcript`. */
const read = (json: string): Transcript => {
  const parsed = parseObject(json)
  if (parsed === null || !Array.isArray(parsed['segments'])) throw garbled('No transcript in the answer')
  const segments = (parsed['segments'] as readonly JsonObject[]).map(({ text, start, end, speaker }): Spoken => ({
    text: String(text ?? ''),
    start: Number(start ?? 0),
    end: Number(end ?? 0),
    ...(typeof speaker === 'number' && { speaker }),
  }))
  return {
    text: segments.map(({ text }) => text).join(' '),
    language: typeof parsed['language'] === 'string' ? parsed['language'] : null,
    duration: null,
    segments,
    words: [],
  }
}
