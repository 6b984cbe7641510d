import type { AudioAnswer, AudioParams } from '../../sealed/client/audio.ts'
import { ofSegment, ofTranscript, toldMembers } from '../../shared/transcript-names.ts'
import type { Spoken, TranscribeCall, Transcript } from '../../../core/ports/upstream.ts'

/** Times in seconds from the beginning of the sound. */
type Timed = Omit<Spoken, 'text'>

interface Results {
  readonly channels: readonly {
    readonly detected_language?: string
    readonly alternatives: readonly {
      readonly transcript: string
      readonly words?: readonly (Timed & { readonly word: string })[]
    }[]
  }[]
  readonly utterances?: readonly (Timed & { readonly transcript: string })[]
}

/** In bytes, and characters that fit into them in any case. */
const [mostName, fitting] = [255, 60]

/** A name as the sealed route takes it: without control characters, and no brace first. The ending tells the form of the sound. */
const sealableName = (name: string): string => {
  const plain = name.replace(/\p{Cc}/gu, '')
  const short = Buffer.byteLength(plain) > mostName ? [...plain].slice(-fitting).join('') : plain
  return short.replace(/^\{+/, '') || 'audio'
}

/** The call as the sealed route takes it. Fields that the gateway does not know stay outside. */
export const sealedAudio = ({ model, audio, ...call }: TranscribeCall): AudioParams => ({
  model,
  file: { name: sealableName(audio.name), bytes: audio.bytes },
  ...(call.language !== undefined && { language: call.language }),
  ...(call.detectLanguage !== undefined && { detect_language: call.detectLanguage }),
  ...(call.prompt !== undefined && { prompt: call.prompt }),
  ...(call.temperature !== undefined && { temperature: call.temperature }),
  ...(call.diarize !== undefined && { diarize: call.diarize }),
  ...(call.smartFormat !== undefined && { smart_format: call.smartFormat }),
  ...(call.punctuate !== undefined && { punctuate: call.punctuate }),
  ...(call.utterances !== undefined && { utterances: call.utterances }),
  ...(call.granularities !== undefined &&
    call.granularities.length > 0 && { timestamp_granularities: call.granularities }),
})

/** The enclave answers in Deepgram's shape; only the first channel and its first alternative count. */
export const transcriptOf = (answer: AudioAnswer): Transcript => {
  const { channels, utterances = [] } = answer.results as Results
  const [channel] = channels
  const { transcript: text = '', words = [] } = channel?.alternatives[0] ?? {}
  const { duration } = answer.metadata
  return {
    text,
    language: channel?.detected_language ?? null,
    duration: Number.isFinite(duration) && (duration as number) >= 0 ? (duration as number) : null,
    segments: utterances.map(({ transcript, start, end, speaker, confidence }): Spoken => ({
      ...{ text: transcript, start, end },
      ...(speaker !== undefined && { speaker }),
      ...(confidence !== undefined && { confidence }),
    })),
    words: words.map(({ word, ...timed }): Spoken => ({ ...timed, text: word })),
    answer: {
      ...toldMembers(answer.metadata, ofTranscript),
      segments: utterances.map((utterance) => toldMembers(utterance, ofSegment)),
    },
    native: { metadata: answer.metadata, results: answer.results },
  }
}
