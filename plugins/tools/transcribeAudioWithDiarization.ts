import * as v from 'valibot'
import { Unconfigured } from '../../core/errors.ts'
import { firstItems, transcribeSound, type Part } from './shared/audio-transcript.ts'
import {
  attributeByBackend,
  attributeByVoice,
  speakerTurns,
  tellsSpeakers,
  type SpeakerTurn,
} from './shared/attribute-speech.ts'
import { tellSpeakers, type Guess } from './shared/speakers.ts'
import { workNeeds } from '../../core/inference/run-for-tool.ts'
import { truncatingReader } from './shared/truncate.ts'
import { pieceTranscriber } from './shared/transcribe-for-tool.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'
import { longestTranscript as most, transcriptionParams as params } from './shared/transcription.ts'

export default plugin({
  port: Tool,
  name: 'transcribeAudioWithDiarization',
  needs: workNeeds,
  settings: v.strictObject({
    /** A transcription model; the first one when absent. */
    model: v.optional(v.string()),
  }),
  create: (supplied, { model: wanted }): Tool<typeof params> => ({
    name: 'transcribeAudioWithDiarization',
    description:
      'Writes down who says what, and when, in the first two hours of an audio or video file. Where the model does not tell speakers apart they are guessed by pitch and timbre, which confuses voices that are alike and people who speak at once; `guess.confidence` then says how sure their number is, from 0.5 for a coin’s throw to 1.',
    kind: 'reads-file',
    takes: ['audio'],
    params,
    async run({ language }, signal, { bytes }) {
      signal.throwIfAborted()
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
    },
  }),
})

interface Attributed {
  readonly turns: readonly SpeakerTurn[]
  readonly diarization: 'backend' | 'local'
  /** Present where voices alone tell the speakers apart. */
  readonly guess?: Guess
}

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
