import type { Supplied } from '../container.ts'
import type { TranscribeCall, Transcript } from '../ports/upstream.ts'
import { employ, type workNeeds } from './employ.ts'

/** Bytes of a second of speech as it is usually packed. */
const perSecond = 16_000

/** Writes down pieces of a sound by a model, and tells in the end which. */
export const scribe = (
  supplied: Supplied<typeof workNeeds>,
  wanted: string | undefined,
  how: Pick<TranscribeCall, 'diarize' | 'granularities' | 'language'>,
) => {
  let served = wanted ?? ''
  return {
    model: () => served,
    async write(audio: TranscribeCall['audio'], signal: AbortSignal): Promise<Transcript> {
      const { answer, model } = await employ(
        supplied,
        { ability: 'transcribe', model: wanted },
        ({ upstream, model }, signal) => upstream.transcribe!({ ...how, model, audio }, signal),
        ({ duration }) => ({ audioSeconds: duration ?? audio.bytes.length / perSecond }),
        signal,
      )
      served = model
      return answer
    },
  }
}
