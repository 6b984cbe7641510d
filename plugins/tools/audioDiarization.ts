import * as v from 'valibot'
import { lazy, plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const voices = lazy(() => import('./shared/speakers.ts'))

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(200), v.description('The id of an uploaded file')) })

/** The largest number of turns: two hours with a change every second have fewer. */
const mostTurns = 10_000

export default plugin({
  port: Tool,
  name: 'audioDiarization',
  create: (): Tool<typeof params> => ({
    name: 'audioDiarization',
    description:
      'A guess at who speaks when in the first two hours of an audio or video file, without the words. Up to eight speakers are told apart by pitch and timbre alone. `guess.confidence` says how sure their number is, from 0.5 for a coin’s throw to 1. Voices that are alike count as one, and one voice in two moods or through two microphones may count as two. A speaker of less than two seconds, or of a hundredth of all, may be missed. Of people who speak at once only one is heard.',
    kind: 'reads-file',
    params,
    async run(_params, signal, { bytes }) {
      signal.throwIfAborted()
      const { tellSpeakers } = await voices()
      const { duration, truncated, turns, guess } = await tellSpeakers(bytes, signal)
      const segments = turns.map(({ speaker, start, end }) => ({ speaker: `Speaker ${speaker + 1}`, start, end }))
      return {
        duration,
        speakers: new Set(turns.map(({ speaker }) => speaker)).size,
        segments: segments.slice(0, mostTurns),
        truncated: truncated || segments.length > mostTurns,
        guess,
      }
    },
  }),
})
