import { SettingsShape } from '../../../core/settings.ts'
import { onWay } from '../../ways.ts'

const upstreams = [{ provider: 'constant' }]
const both = { standard: true, confidential: true, upstreams }

/** One model of each kind, served in the clear and sealed. */
const models = {
  chatting: { ...both, decide: true },
  embedding: { ...both, type: 'EMBEDDING' },
  drawing: { ...both, type: 'IMAGE' },
  speaking: { ...both, type: 'AUDIO_SPEECH' },
  hearing: { ...both, type: 'AUDIO_TRANSCRIPTION' },
}

/** Every limit on what one caller sends, lifted: a body that an allowance refuses shows nothing of its route. */
export const lifted = () =>
  Object.fromEntries(
    (['key', 'organization', 'keyless'] as const).map((whose) => [
      whose,
      Object.fromEntries(
        Object.keys(SettingsShape.entries.limits.wrapped.entries[whose].wrapped.entries).map((name) => [name, null]),
      ),
    ]),
  )

export const configurationFor = (backend: string): object => ({
  // The shortest name that a schema allows: keys and their makers' forms name it.
  organizations: { default: { teams: { a: {} } } },
  providers: { constant: { use: 'openai', baseUrl: backend, batches: true } },
  models,
  limits: lifted(),
  decision: { places: 1_000 },
  ...onWay({ routing: { retries: 0, breaker: { faults: 1_000_000, ratio: 1 } } }),
})
