import { calibrationNeeds, uncalibrated } from '../../../plugins/shared/decisions/uncalibrated.ts'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { seededFractions, randomHalves } from '../../../plugins/surfaces/console/browser/chance.ts'
import { figuresOf, isRight, type Judged } from '../../../plugins/surfaces/console/browser/figures.ts'
import {
  checkedPromise,
  type KeptPromise,
  thresholdFor,
  type ScoredAnswer,
  type PromiseOptions,
} from '../../../plugins/surfaces/console/browser/promise.ts'
import type { Gateway } from '../../../core/gateway.ts'
import { calibrated } from '../../../plugins/shared/decisions/calibration.ts'
import { confidenceOf } from '../../../plugins/shared/decisions/decision-answer.ts'
import { type Calibration, calibrationOf } from '../../../plugins/shared/decisions/settings.ts'
import { type Case, readCases } from './calibrate/cases.ts'
import { plotOf } from './calibrate/plot.ts'
import { replaceFile, withCalibration } from './calibrate/settings-file.ts'
import { surprise, temperaturesOf } from './calibrate/temperatures.ts'
import { commandUsages } from './help.ts'
import { tableOf } from './table.ts'
import { refuseMoreArguments, withGateway } from './with-gateway.ts'

/** A case with the model's own probabilities, before any calibration. */
interface AnsweredCase extends Judged {
  readonly question: Case['question']
}

/** Fewer say nothing of a model. */
const leastCases = 100
/** Questions at once, as many as a key has places. */
const lanes = 4

/** Fits a model's calibration to cases, and tells what the held-out half says of it; prints to standard output. */
export const calibrate = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  refuseMoreArguments(positionals, 1, commandUsages.calibrate)
  const [model] = positionals
  if (model === undefined || values.cases === undefined) throw new Error(commandUsages.calibrate)
  const wish = { errors: share(values.errors, '--errors'), certainty: share(values.certainty, '--certainty') }
  const [seed, samples] = [whole(values.seed, '--seed'), whole(values.samples, '--samples')]
  const from = values.check === undefined ? null : share(values.check, '--check')
  if (from !== null && (values.write || values.plot !== undefined))
    throw new Error('--check fits nothing: it takes neither --write nor --plot')
  const file = env['SEALGATE_CONFIG'] || null
  if (values.write && file === null) throw new Error('--write needs SEALGATE_CONFIG: the file to write to')
  const cases = await readCases(values.cases)
  if (cases.length < leastCases) throw new Error(`--cases has ${cases.length} cases; at least ${leastCases} are needed`)
  // The command refuses a file that it cannot write before any model is asked.
  if (values.write) withCalibration(await readFile(file!, 'utf8'), model, { id: '-', temperature: 1, byOptions: {} })
  await withGateway(env, async (gateway) => {
    const answered = await askAll(gateway, model, cases, samples)
    if (from !== null) return tellDrift(model, await driftOf(gateway, model, answered, from, wish), wish, values.json)
    const report = reportOf(answered, wish, seed)
    if (values.plot !== undefined) await writeFile(values.plot, plotOf(report.before.bins, report.after.bins))
    process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : wordsOf(model, report))
    if (!report.better) process.exitCode = 1
    else if (values.write)
      await replaceFile(file!, withCalibration(await readFile(file!, 'utf8'), model, report.calibration))
  })
}

const options = {
  cases: { type: 'string' },
  errors: { type: 'string', default: '0.05' },
  certainty: { type: 'string', default: '0.95' },
  samples: { type: 'string', default: '1' },
  seed: { type: 'string', default: '1' },
  check: { type: 'string' },
  plot: { type: 'string' },
  write: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

/** Both ends are excluded: 0 errors and full certainty are promises that no number of cases can keep. */
const share = (text: string, option: string): number => {
  const number = Number(text)
  if (!(number > 0 && number < 1)) throw new Error(`${option} takes a share between 0 and 1`)
  return number
}

/** Below 2 ** 32, since the seed of the draw has 32 bits. */
const whole = (text: string, option: string): number => {
  const number = Number(text)
  if (!(Number.isInteger(number) && number > 0 && number < 2 ** 32))
    throw new Error(`${option} takes a whole number above 0`)
  return number
}

/** In the order of the cases, whichever lane asked first. The first failure rejects and ends all lanes. */
const askAll = async (
  gateway: Pick<Gateway, 'supply'>,
  model: string,
  cases: readonly Case[],
  samples: number,
): Promise<readonly AnsweredCase[]> => {
  const failed = new AbortController()
  const answers = new Array<AnsweredCase>(cases.length)
  const waiting = cases.entries()
  const lane = async (): Promise<void> => {
    for (const [at, { state, question, truth }] of waiting) {
      const probabilities = await uncalibrated(
        gateway.supply(calibrationNeeds),
        { model, state, question, samples },
        failed.signal,
      )
      answers[at] = { probabilities, truth, question }
    }
  }
  try {
    await Promise.all(Array.from({ length: lanes }, lane))
  } finally {
    // No lane goes on once another one has failed.
    failed.abort()
  }
  return answers
}

/** What the calibration in use keeps of the promise, by all cases: nothing is fitted to them. */
const driftOf = async (
  gateway: Pick<Gateway, 'supply'>,
  model: string,
  answered: readonly AnsweredCase[],
  from: number,
  wish: PromiseOptions,
) => {
  const { catalog } = gateway.supply(calibrationNeeds)
  const entry = await catalog.find(model, new AbortController().signal)
  const inUse = entry === null ? undefined : calibrationOf(entry.settings)
  const scored = calibrated(answered, inUse).map(({ probabilities }, at): ScoredAnswer => {
    const answer = { ...answered[at]!, probabilities }
    return { confidence: confidenceOf(answer.question, answer), right: isRight(answer) }
  })
  return { cases: answered.length, calibration: inUse?.id ?? null, ...checkedPromise(scored, from, wish), wish }
}

/** A promise that the cases do not prove ends the command with 1. */
const tellDrift = (
  model: string,
  drift: Awaited<ReturnType<typeof driftOf>>,
  { errors, certainty }: PromiseOptions,
  json: boolean,
): void => {
  const { cases, calibration, confidence, automated, wrong, atMost, kept } = drift
  const verdict = kept ? 'the promise is kept' : `the promise of ${percent(errors)} is not kept`
  const words = `${model}: ${cases} cases, ${calibration === null ? 'no calibration' : `calibration ${calibration}`}
of answers with a confidence of at least ${confidence}, ${percent(automated)} of all, ${percent(wrong)} are wrong, and at most ${percent(atMost)} with ${percent(certainty)} certainty
${verdict}\n`
  process.stdout.write(json ? `${JSON.stringify(drift)}\n` : words)
  if (!kept) process.exitCode = 1
}

/** The report covers the held-out half alone, except for the temperatures and the order of the search. */
const reportOf = (cases: readonly AnsweredCase[], promiseOptions: PromiseOptions, seed: number) => {
  const [fit, held] = randomHalves(cases, seededFractions(seed))
  const temperatures = temperaturesOf(fit)
  const id = createHash('sha256')
    .update(JSON.stringify([temperatures, cases]))
    .digest('hex')
    .slice(0, 12)
  const calibration: Calibration = { id, ...temperatures }
  const answered = (some: readonly AnsweredCase[]) =>
    calibrated(some, calibration).map(({ probabilities }, at) => ({ ...some[at]!, probabilities }))
  const scored = (some: readonly AnsweredCase[]): readonly ScoredAnswer[] =>
    some.map((answer) => ({ confidence: confidenceOf(answer.question, answer), right: isRight(answer) }))
  const after = answered(held)
  const promise = thresholdFor(scored(answered(fit)), scored(after), promiseOptions)
  return {
    cases: cases.length,
    calibration: { ...calibration, ...(promise && { promise: { confidence: promise.confidence, ...promiseOptions } }) },
    before: figuresOf(held, seed),
    after: figuresOf(after, seed),
    better: surprise(after) < surprise(held),
    promise,
    wish: promiseOptions,
  }
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

const wordsOf = (model: string, report: ReturnType<typeof reportOf>): string => {
  const { cases, calibration, before, after, better, promise, wish } = report
  const row = (name: string, figures: typeof before) => [
    name,
    percent(figures.accuracy),
    ...[figures.ece, figures.byChance, figures.excess, figures.brier].map((figure) => figure.toFixed(3)),
  ]
  const verdict = better ? '' : 'the held-out half is answered no better with it: nothing is written\n'
  const head = ['on the held-out half', 'accuracy', 'ECE', 'by chance', 'excess', 'Brier']
  return `${model}: ${cases} cases\n${tableOf(head, [row('before', before), row('calibrated', after)])}
${promiseOf(promise, wish)}
${verdict}"calibration": ${JSON.stringify(calibration)}\n`
}

/** A share of errors is promised with a certainty; more cases may let it cover more answers. */
const promiseOf = (promise: KeptPromise | null, { errors, certainty }: PromiseOptions): string => {
  const sure = `with ${percent(certainty)} certainty`
  if (promise === null) return `no confidence keeps errors below ${percent(errors)} ${sure}: more cases may`
  const { confidence, automated, wrong } = promise
  return `of answers with a confidence of at least ${confidence}, at most ${percent(errors)} are wrong, ${sure}; that is ${percent(automated)} of all, of which ${percent(wrong)} were wrong`
}
