import { mediaOperations, mediaWords } from '../../calls/reference/media.ts'
import type { Chapter } from '../../http/reference.ts'

export const media: Chapter = {
  name: 'Vectors, images and sound',
  about: 'Embeddings, images, transcripts and speech in the common formats.',
  words: mediaWords,
  operations: mediaOperations,
}
