import type { Transcript, TranscriptEvent } from '../../core/ports/upstream.ts'

/** A whole transcript as the events of a streamed transcript. */
export const transcriptEvents = ({ text, segments, answer }: Transcript): readonly TranscriptEvent[] => {
  const pieces = segments.map((segment) => segment.text)
  const told = pieces.join('').trim() === text.trim() ? pieces : [text]
  const usage = answer?.['usage']
  return [
    ...told.filter((piece) => piece !== '').map((delta) => ({ type: 'transcript.text.delta', delta })),
    { type: 'transcript.text.done', text, ...(usage != null && { usage }) },
  ]
}
