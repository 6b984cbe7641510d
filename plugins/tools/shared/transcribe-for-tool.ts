import type { Supplied } from '../../../core/container.ts'
import type { TranscribeCall, Transcript } from '../../../core/ports/upstream.ts'
import { runForTool } from '../../shared/run-for-tool.ts'
import type { workNeeds } from '../../shared/work-needs.ts'
import { secondsOf } from '../../../core/inference/metering/tokens.ts'

/** Transcribes pieces of a sound with a model, and names the model at the end. */
export const pieceTranscriber = (
  supplied: Supplied<typeof workNeeds>,
  wanted: string | undefined,
  how: Pick<TranscribeCall, 'diarize' | 'granularities' | 'language'>,
) => {
  let served = wanted ?? ''
  return {
    model: () => served,
    async write(audio: TranscribeCall['audio'], signal: AbortSignal): Promise<Transcript> {
      const { answer, model } = await runForTool(
        supplied,
        { ability: 'transcribe', model: wanted },
        ({ upstream, model }, signal) => upstream.transcribe({ ...how, model, audio }, signal),
        ({ duration }) => ({ audioSeconds: duration ?? secondsOf(audio.bytes.length) }),
        signal,
      )
      served = model
      return answer
    },
  }
}
