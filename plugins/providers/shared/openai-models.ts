import type { ModelType, TranscribeCall } from '../../../core/ports/upstream.ts'

const kinds: readonly (readonly [RegExp, ModelType])[] = [
  [/whisper|transcribe/, 'AUDIO_TRANSCRIPTION'],
  [/tts/, 'AUDIO_SPEECH'],
  [/dall-e|gpt-image/, 'IMAGE'],
  [/embed/, 'EMBEDDING'],
]

/** The list of models does not say what they are for, their names do. */
export const typeOf = (id: string): ModelType => kinds.find(([name]) => name.test(id))?.[1] ?? 'CHAT'

/** Newer models give JSON alone; Whisper also gives times. */
export const transcriptFormat = ({ model, diarize }: TranscribeCall): string => {
  if (model.includes('diarize')) return diarize === false ? 'json' : 'diarized_json'
  return model.includes('transcribe') ? 'json' : 'verbose_json'
}

/** The other models give their images inside the answer anyway and refuse the field. */
export const drawFields = (model: string): { readonly response_format?: string } =>
  model.includes('dall-e') ? { response_format: 'b64_json' } : {}
