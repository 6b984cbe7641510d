import type { Spoken, Transcript } from '../../core/ports/upstream.ts'
import { ofSegment, ofTranscript, toldMembers } from '../shared/transcript-names.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'

/** What `metadata` tells beside the answer. */
export interface TranscriptExtras {
  /** Options of the call that had no effect. */
  readonly ignored?: readonly string[]
  /** Present when the gateway, and not the backend, found the speakers. */
  readonly diarization?: 'local'
}

/** A transcript as `metadata` and `results`, whatever backend it came from, so that clients need one reader. */
export const listenStyle = (transcript: Transcript, model: string, aside: TranscriptExtras = {}): JsonObject => {
  const { native, duration, answer } = transcript
  if (native === undefined) {
    const told = toldMembers(answer, ofTranscript)
    return { metadata: { duration, channels: 1, models: [model], ...told, ...aside }, results: resultsOf(transcript) }
  }
  if (Object.keys(aside).length === 0) return native
  return { ...native, metadata: { ...(native['metadata'] as JsonObject | undefined), ...aside } }
}

/** A segment that was split between speakers has no numbers of the backend. */
const resultsOf = ({ text, language, segments, words, answer }: Transcript): JsonObject => {
  const own = (answer?.['segments'] ?? []) as readonly unknown[]
  const told = (at: number) => (own.length === segments.length ? toldMembers(own[at], ofSegment) : {})
  return {
    channels: [
      {
        ...(language !== null && { detected_language: language }),
        alternatives: [{ transcript: text, words: words.map(wordOf) }],
      },
    ],
    ...(segments.length > 0 && {
      utterances: segments.map((segment, at) => ({ ...told(at), ...utteranceOf(segment) })),
    }),
  }
}

const wordOf = ({ text, start, end, speaker, confidence }: Spoken) => ({
  word: text,
  start,
  end,
  ...(confidence !== undefined && { confidence }),
  ...(speaker !== undefined && { speaker }),
})

const utteranceOf = ({ text, ...rest }: Spoken) => ({ ...rest, transcript: text })
