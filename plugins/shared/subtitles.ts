import type { Transcript } from '../../core/ports/upstream.ts'

/** The segments as numbered (SubRip) or plain (WebVTT) cues; one cue over all where the backend gave no segments. */
export const subtitles = ({ text, duration, segments }: Transcript, form: 'srt' | 'vtt'): string => {
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
