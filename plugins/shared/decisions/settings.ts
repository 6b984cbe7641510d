import * as v from 'valibot'
import { mostEscalations } from './typed-decision.ts'
import { section } from '../../../core/ports/section.ts'
import type { ModelSettings } from '../../../core/settings.ts'

const count = v.pipe(v.number(), v.integer(), v.minValue(1))

const temperature = v.pipe(v.number(), v.finite('a finite number'), v.gtValue(0))

/** Between 0 and 1, both excluded: no number of cases proves either. */
const share = v.pipe(v.number(), v.gtValue(0), v.ltValue(1))

/** What `sealgate calibrate` fits. */
const calibration = v.strictObject({
  /** What diagnostics call it. */
  id: v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/, 'up to 64 letters, digits, dots and dashes')),
  /** For numbers of options without an own one. */
  temperature,
  byOptions: v.optional(
    v.record(v.pipe(v.string(), v.regex(/^([2-9]|1\d|2[0-6])$/, 'a number of options from 2 to 26')), temperature),
    {},
  ),
  /** Of answers with at least this confidence, at most the share `errors` is wrong, as surely as `certainty` says. */
  promise: v.optional(
    v.strictObject({ confidence: v.pipe(v.number(), v.minValue(0), v.maxValue(1)), errors: share, certainty: share }),
  ),
})

/** A calibration after the check. A temperature of 1 changes nothing. */
export type Calibration = v.InferOutput<typeof calibration>

const escalation = v.strictObject({
  below: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  to: v.string(),
  /** Models that are asked one after the other; the next one is that of `escalateFrom`. */
  most: v.optional(v.pipe(count, v.maxValue(mostEscalations)), 1),
})

const shape = v.optional(
  v.strictObject({
    default: v.optional(v.string()),
    aliases: v.optional(v.record(v.string(), v.string()), {}),
    /** Places a key. */
    places: v.optional(count, 4),
    /** Ask a larger model again where confidence stays below. */
    escalate: v.optional(escalation),
    /** The same by the name of the model that is not sure; takes the place of `escalate`. */
    escalateFrom: v.optional(v.record(v.string(), escalation), {}),
  }),
  {},
)

/** Which models decide, and how many decisions a key has at once. */
export const decisionSettings = section('decision', shape, {
  // What the answers of a model go through before callers get them; as they are when absent.
  members: { calibration: v.optional(calibration) },
  models: ({ default: byDefault, aliases, escalate, escalateFrom }) => [
    ['decision.default', byDefault],
    ...Object.entries(aliases).map(([alias, model]) => [`decision.aliases.${alias}`, model] as const),
    ['decision.escalate.to', escalate?.to],
    ...Object.entries(escalateFrom).flatMap(([from, { to }]) => [
      [`decision.escalateFrom.${from}`, from] as const,
      [`decision.escalateFrom.${from}.to`, to] as const,
    ]),
  ],
})

/** A calibrated model as an operator writes it. */
export interface CalibratedInput {
  readonly calibration?: v.InferInput<typeof calibration> | undefined
}

type CalibratedModel = ModelSettings & { readonly calibration?: Calibration }

/** The calibration of a model; undefined for answers that callers get as they are. */
export const calibrationOf = (model: CalibratedModel): Calibration | undefined => model.calibration

/** The same model, whose answers are as its backends give them. */
export const withoutCalibration = ({ calibration: _, ...model }: CalibratedModel): ModelSettings => model

/** The id of the model's calibration as diagnostics name it; nothing without one. */
export const namedCalibration = (model: CalibratedModel): { readonly calibration?: string } =>
  model.calibration === undefined ? {} : { calibration: model.calibration.id }
