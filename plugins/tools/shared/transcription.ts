import * as v from 'valibot'
import { languageCode } from './codes.ts'

/** The parameters of tools that transcribe a file. */
export const transcriptionParams = v.object({
  fileId: v.pipe(v.string(), v.maxLength(200), v.description('The id of an uploaded file')),
  language: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(100),
      v.description('The language that is spoken, as its code or its English name'),
      v.transform(languageCode),
      v.regex(/^[A-Za-z0-9]{1,35}(-[A-Za-z0-9]{1,35}){0,17}$/, 'a language'),
      v.maxLength(35),
    ),
  ),
})

/** What a transcription asks for. */
export interface TranscriptionWish {
  /** The model in the tool's settings. */
  readonly wanted: string | undefined
  readonly language: string | undefined
}

/** More than two hours of speech. */
export const longestTranscript = { characters: 400_000, count: 10_000 }
