/** The formats of a transcript, as callers name them. */
export const formats = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const

/** The name of one format. */
export type TranscriptFormat = (typeof formats)[number]
