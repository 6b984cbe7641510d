import { mediaOperations, mediaWords } from '../shared/media-words.ts'
import type { Chapter } from '../../../core/ports/chapter.ts'

export const media: Chapter = {
  name: 'Vectors, images and sound',
  about: 'Embeddings, images, transcripts and speech in the common formats.',
  words: mediaWords,
  operations: mediaOperations,
}
