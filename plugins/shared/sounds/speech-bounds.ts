/** In characters: the longest text that is spoken. */
export const mostCharacters = 20_000

/** The formats in which speech is given. */
export const soundFormats = ['wav', 'pcm', 'mp3', 'opus', 'aac', 'flac'] as const
