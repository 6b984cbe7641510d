import type { Supplied } from '../../../core/container.ts'
import { Unconfigured } from '../../../core/errors.ts'
import type { workNeeds } from '../../shared/work-needs.ts'
import {
  attributeByBackend,
  attributeByVoice,
  speakerTurns,
  tellsSpeakers,
  type SpeakerTurn,
} from '../shared/attribute-speech.ts'
import { firstItems, transcribeSound, type Part } from '../shared/audio-transcript.ts'
import { tellSpeakers, type Guess } from '../shared/speakers.ts'
import { pieceTranscriber } from '../shared/transcribe-for-tool.ts'
import { longestTranscript as most, type TranscriptionWish } from '../shared/transcription.ts'
import { truncatingReader } from '../shared/truncate.ts'

/** The words of a sound file, with who says them and when. */
export const transcribe = async (
  supplied: Supplied<typeof workNeeds>,
  { wanted, language }: TranscriptionWish,
  bytes: Uint8Array,
  signal: AbortSignal,
) => {
  const how = {
    diarize: true,
    granularities: ['word', 'segment'],
    ...(language !== undefined && { language }),
  } as const
  const { write, model } = pieceTranscriber(supplied, wanted, how)
  const { parts, duration, truncated } = await transcribeSound(bytes, write, signal)
  const { turns, ...told } = await attributed(bytes, parts, signal)
  const kept = firstItems(turns, most)
  const { text, wasCut } = truncatingReader()
  const result = {
    text: text(parts.map((part) => part.text).join(' '), most.characters),
    language: parts.find((part) => part.language !== null)?.language ?? language ?? null,
    duration,
    speakers: new Set(turns.map(({ speaker }) => speaker)).size,
    turns: kept.map((turn) => ({ ...turn, speaker: `Speaker ${turn.speaker}` })),
  }
  return { ...result, truncated: truncated || wasCut() || kept.length < turns.length, model: model(), ...told }
}

interface Attributed {
  readonly turns: readonly SpeakerTurn[]
  readonly diarization: 'backend' | 'local'
  /** Present where voices alone tell the speakers apart. */
  readonly guess?: Guess
}

/** Throws Unconfigured where several voices speak and the model tells no times: nothing would match the two. */
const attributed = async (bytes: Uint8Array, parts: readonly Part[], signal: AbortSignal): Promise<Attributed> => {
  if (parts.some(tellsSpeakers)) {
    const { turns } = parts.length > 1 ? await tellSpeakers(bytes, signal) : { turns: [] }
    return { turns: speakerTurns(parts, attributeByBackend(parts, turns)), diarization: 'backend' }
  }
  if (parts.every(({ segments }) => segments.length === 0)) return { turns: [], diarization: 'local' }
  const { turns, guess } = await tellSpeakers(bytes, signal)
  const untimed = parts.some(({ timed, text }) => !timed && text !== '')
  if (untimed && turns.some(({ speaker }) => speaker > 0)) {
    throw new Unconfigured({ validator: { models: 'Expected a transcription model that tells when things are said' } })
  }
  return { turns: speakerTurns(parts, attributeByVoice(turns)), diarization: 'local', guess }
}
