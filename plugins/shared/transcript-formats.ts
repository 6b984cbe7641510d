import type { Spoken, Transcript } from '../../core/ports/upstream.ts'
import { type TranscriptFormat, toldMembers } from './transcript-names.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'

export { formats, type TranscriptFormat } from './transcript-names.ts'

/** Text with its type. */
export interface Printed {
  readonly type: string
  readonly text: string
}

const json = (value: JsonObject): Printed => ({ type: 'application/json; charset=utf-8', text: JSON.stringify(value) })

/** A transcript as its caller wants it, with all that the backend told in the common format. */
export const printTranscript = (
  transcript: Transcript,
  format: TranscriptFormat,
  task: 'transcribe' | 'translate',
): Printed => {
  switch (format) {
    case 'json':
      return json({ text: transcript.text, ...toldMembers(transcript.answer, ['logprobs', 'usage']) })
    case 'text':
      return { type: 'text/plain; charset=utf-8', text: `${transcript.text}\n` }
    case 'srt':
      return { type: 'application/x-subrip; charset=utf-8', text: subtitles(transcript, 'srt') }
    case 'vtt':
      return { type: 'text/vtt; charset=utf-8', text: subtitles(transcript, 'vtt') }
    case 'verbose_json':
      return json(verbose(transcript, task))
    case 'diarized_json':
      return json(diarized(transcript, task))
  }
}

const lengthOf = ({ duration, segments }: Transcript): number => duration ?? segments.at(-1)?.end ?? 0

const verbose = (transcript: Transcript, task: string): JsonObject => {
  const { text, segments: _, words: __, ...rest } = transcript.answer ?? {}
  const own = (transcript.answer?.['segments'] ?? []) as readonly JsonObject[]
  return {
    ...rest,
    task,
    language: transcript.language ?? '',
    duration: lengthOf(transcript),
    text: transcript.text,
    segments: transcript.segments.map((segment, at) => segmentOf(segment, at, own[at])),
    words: transcript.words.map(({ text, start, end }) => ({ word: text, start, end })),
  }
}

/** Stock clients refuse a segment that lacks one of these; the backend's own stand behind them. */
const segmentOf = (
  { text, start, end, speaker, confidence }: Spoken,
  id: number,
  own: JsonObject = {},
): JsonObject => ({
  id,
  seek: Math.round(start * 100),
  start,
  end,
  text,
  tokens: [],
  temperature: 0,
  avg_logprob: confidence === undefined || confidence <= 0 ? 0 : Math.log(confidence),
  compression_ratio: 1,
  no_speech_prob: 0,
  ...(speaker !== undefined && { speaker }),
  ...own,
  ...(typeof own['id'] !== 'number' && { id }),
})

const diarized = (transcript: Transcript, task: string): JsonObject => ({
  task,
  duration: lengthOf(transcript),
  text: transcript.text,
  segments: diarizedSegments(transcript),
  ...toldMembers(transcript.answer, ['usage']),
})

/** The segments with who speaks them. */
export const diarizedSegments = ({ answer, segments }: Transcript) => {
  const own = (answer?.['segments'] ?? []) as readonly JsonObject[]
  return segments.map(({ text, start, end, speaker }, at) => ({
    type: 'transcript.text.segment',
    id: `seg_${at}`,
    start,
    end,
    text,
    speaker: own[at]?.['speaker'] ?? letter(speaker ?? 0),
  }))
}

/** A, B, …, Z, AA: as the common format names speakers that nobody knows. */
const letter = (speaker: number): string =>
  (speaker < 26 ? '' : letter(Math.floor(speaker / 26) - 1)) + String.fromCharCode(65 + (speaker % 26))

/** True when the transcript names its speakers. */
export const tellsSpeakers = ({ segments }: Transcript): boolean =>
  segments.length > 0 && segments.every(({ speaker }) => speaker !== undefined)

/** The segments as numbered (SubRip) or plain (WebVTT) cues; one cue over all where the backend gave no segments. */
const subtitles = ({ text, duration, segments }: Transcript, form: 'srt' | 'vtt'): string => {
  const cues = segments.length > 0 ? segments : [{ text, start: 0, end: duration ?? 0 }]
  const comma = form === 'srt' ? ',' : '.'
  const lines = cues.map(({ text, start, end }, index) => {
    const span = `${stamp(start, comma)} --> ${stamp(end, comma)}`
    // An arrow in the text would begin another cue.
    const words = text
      .trim()
      .replaceAll('-->', '->')
      .replace(/\n{2,}/g, '\n')
    return form === 'srt' ? `${index + 1}\n${span}\n${words}\n` : `${span}\n${words}\n`
  })
  return (form === 'vtt' ? 'WEBVTT\n\n' : '') + lines.join('\n')
}

const stamp = (seconds: number, comma: string): string => {
  const ms = Math.round(seconds * 1000)
  const part = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, '0')
  return `${part(ms / 3_600_000)}:${part((ms / 60_000) % 60)}:${part((ms / 1000) % 60)}${comma}${part(ms % 1000, 3)}`
}
