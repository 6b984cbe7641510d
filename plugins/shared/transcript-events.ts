import { BadRequest } from '../../core/errors.ts'
import type { TranscribeCall, Transcript, TranscriptEvent } from '../../core/ports/upstream.ts'
import { diarizedSegments, tellsSpeakers } from './transcript-formats.ts'

/**
 * A whole transcript as the events of a streamed transcript. Throws BadRequest where speakers are asked for and the
 * transcript does not tell them.
 */
export const transcriptEvents = (
  transcript: Transcript,
  { diarize = false }: Pick<TranscribeCall, 'diarize'>,
): readonly TranscriptEvent[] => {
  const { text, segments, duration, answer } = transcript
  if (diarize && text !== '' && !tellsSpeakers(transcript)) throw speakerless()
  const pieces = segments.map((segment) => segment.text)
  const told = pieces.join('').trim() === text.trim() ? pieces : [text]
  const usage = answer?.['usage'] ?? (duration === null ? null : { type: 'duration', seconds: duration })
  return [
    ...told.filter((piece) => piece !== '').map((delta) => ({ type: 'transcript.text.delta', delta })),
    ...(diarize ? diarizedSegments(transcript) : []),
    { type: 'transcript.text.done', text, ...(usage != null && { usage }) },
  ]
}

/** A model that does not tell who speaks. */
export const speakerless = (): BadRequest =>
  new BadRequest('The model does not tell speakers apart', {
    validator: { response_format: 'expected another format' },
  })
