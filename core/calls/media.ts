import { embeddings } from './media/embeddings.ts'
import { imageEdits } from './media/image-edits.ts'
import { generations } from './media/images.ts'
import { speech } from './media/speech.ts'
import { transcriptions, translations } from './media/transcription.ts'

/** Vectors, images and sound in the clear. */
export const mediaRoutes = [embeddings, generations, imageEdits, transcriptions, translations, speech] as const
