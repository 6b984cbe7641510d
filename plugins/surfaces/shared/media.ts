import { embeddings } from './embeddings.ts'
import { imageEdits, generations } from './images.ts'
import { speech } from './speech.ts'
import { transcriptions, translations } from './transcription.ts'

/** Vectors, images and sound in the clear. */
export const mediaRoutes = [embeddings, generations, imageEdits, transcriptions, translations, speech] as const
