import type { Supplied } from '../../../core/container.ts'
import { BadRequest, NotFound } from '../../../core/errors.ts'
import { Clock } from '../../../core/ports/platform.ts'
import type { OrderedJson, Question } from '../../../core/ports/upstream.ts'
import { Settings } from '../../../core/settings.ts'
import { Inference } from '../../../core/inference/inference.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { withoutCalibration } from './settings.ts'
import { opinionOf } from './decide-once.ts'

/** One question, as a calibration asks it. */
export interface CalibrationQuestion {
  readonly model: string
  readonly state: OrderedJson
  readonly question: Question
  /** Reads to average; null for one. */
  readonly samples: number | null
}

/** No meter stands among these needs, so a calibration cannot charge a caller. */
export const calibrationNeeds = { catalog: Catalog, inference: Inference, clock: Clock, settings: Settings }

/** The probabilities before any calibration, on nobody's bill. Throws for a model that decides nothing in the clear. */
export const uncalibrated = async (
  { catalog, inference, clock, settings }: Supplied<typeof calibrationNeeds>,
  { model, state, question, samples }: CalibrationQuestion,
  signal: AbortSignal,
): Promise<readonly number[]> => {
  const found = await catalog.find(model, signal)
  if (found === null) throw new NotFound('The model does not exist', { code: 'model_not_found' })
  if (!found.settings.standard || !found.does.has('decide'))
    throw new BadRequest('The model does not decide in the clear')
  const matter = {
    entry: { ...found, settings: withoutCalibration(found.settings) },
    provider: null,
    questions: [{ id: 'asked', question }],
    call: { state, images: [], samples, steps: null },
    began: clock.now(),
    total: settings.timeouts.decision,
  }
  const reserve = async () => ({ headers: {}, settle: async () => undefined })
  const { distributions } = await opinionOf({ inference, clock, reserve }, matter, signal)
  return distributions[0]!.probabilities
}
