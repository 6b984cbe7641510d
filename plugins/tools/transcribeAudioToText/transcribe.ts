import type { Supplied } from '../../../core/container.ts'
import type { workNeeds } from '../../shared/work-needs.ts'
import { firstItems, transcribeSound } from '../shared/audio-transcript.ts'
import { pieceTranscriber } from '../shared/transcribe-for-tool.ts'
import { longestTranscript as most, type TranscriptionWish } from '../shared/transcription.ts'
import { truncatingReader } from '../shared/truncate.ts'

/** The words of a sound file, and when they are said. */
export const transcribe = async (
  supplied: Supplied<typeof workNeeds>,
  { wanted, language }: TranscriptionWish,
  bytes: Uint8Array,
  signal: AbortSignal,
) => {
  const how = { granularities: ['segment'], ...(language !== undefined && { language }) } as const
  const { write, model } = pieceTranscriber(supplied, wanted, how)
  const { parts, duration, truncated } = await transcribeSound(bytes, write, signal)
  const segments = parts.flatMap((part) => part.segments)
  const kept = firstItems(segments, most)
  const { text, wasCut } = truncatingReader()
  const result = {
    text: text(parts.map((part) => part.text).join(' '), most.characters),
    language: parts.find((part) => part.language !== null)?.language ?? language ?? null,
    duration,
    segments: kept.map(({ start, end, text }) => ({ start, end, text })),
  }
  return { ...result, truncated: truncated || wasCut() || kept.length < segments.length, model: model() }
}
