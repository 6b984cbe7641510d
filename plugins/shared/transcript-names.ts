/** The formats of a transcript, as callers name them. */
export const formats = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const

/** The name of one format. */
export type TranscriptFormat = (typeof formats)[number]

/** What a backend tells of a whole transcript, and of one segment, beside texts and times. */
export const ofTranscript = ['usage', 'logprobs']
export const ofSegment = ['seek', 'tokens', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob']

/** Members of these names that are not null. */
export const toldMembers = (told: unknown, names: readonly string[]): Readonly<Record<string, unknown>> => {
  const from = (told ?? {}) as Readonly<Record<string, unknown>>
  return Object.fromEntries(names.flatMap((name) => (from[name] == null ? [] : [[name, from[name]]])))
}
