import { clockTime, count, seconds } from './format.ts'

/** From the best to the worst. */
export const drillMarks = ['pass', 'partial', 'safe', 'fail'] as const
export type DrillMark = (typeof drillMarks)[number]

/** What `POST /admin/drill` tells at its begin. */
export interface DrillBegins {
  readonly model: string
  readonly backends: number
  readonly retries: number
  readonly continues: boolean
  readonly scenes: readonly { readonly scene: string; readonly title: string }[]
}

/** What it tells of each scene. Times are in ms. */
export interface DrillScene {
  readonly scene: string
  readonly title: string
  readonly mark: DrillMark
  readonly note: string
  readonly caller: {
    readonly status: number | null
    readonly characters: number
    readonly ending: 'whole' | 'error' | 'broken' | 'left'
    readonly first_token: number | null
    readonly ms: number | null
  }
  readonly asked: number
}

/** A drill as this tab heard it. */
export interface DrillRun {
  /** Unix time in ms. */
  readonly at: number
  readonly begins: DrillBegins
  /** By the name of the scene. */
  readonly results: ReadonlyMap<string, DrillScene>
  /** The last whole run of the same model; null without one. */
  readonly before: DrillRun | null
}

export interface DrillRow {
  readonly scene: string
  readonly title: string
  /** Null while the scene plays. */
  readonly result: DrillScene | null
  /** The mark of the run before; null without one. */
  readonly before: DrillMark | null
}

/** The scenes of a run in their order, beside the marks of the run before. */
export const drillRows = ({ begins, results, before }: DrillRun): readonly DrillRow[] =>
  begins.scenes.map(({ scene, title }) => ({
    scene,
    title,
    result: results.get(scene) ?? null,
    before: before?.results.get(scene)?.mark ?? null,
  }))

/** How the mark differs from the run before; null where nothing is to compare. */
export const changeOf = ({ result, before }: DrillRow): 'better' | 'worse' | 'same' | null => {
  if (result === null || before === null) return null
  const step = drillMarks.indexOf(result.mark) - drillMarks.indexOf(before)
  return step === 0 ? 'same' : step < 0 ? 'better' : 'worse'
}

/** The difference to the run before, in sentences. */
export const changeWords = (run: DrillRun): readonly string[] => {
  const { before } = run
  if (before === null) return ['This tab has seen no run of this model before.']
  const since = `the run at ${clockTime(before.at)}`
  const changed = drillRows(run).filter((row) => !['same', null].includes(changeOf(row)))
  if (changed.length === 0) return [`Every mark is that of ${since}.`]
  return changed.map(
    (row) => `${row.scene}, ${row.title}: ${row.result?.mark}, ${changeOf(row)} than ${row.before} in ${since}.`,
  )
}

/** What the caller of a scene saw, in words. */
export const sightWords = ({ caller: { status, characters, ending, ms } }: DrillScene): string => {
  if (ending === 'left') return 'the caller left'
  const text = characters === 0 ? '' : `${count(characters)} characters`
  const ends = { whole: '', error: 'an error', broken: 'a broken connection' }[ending]
  const what = [text, ends].filter((part) => part !== '').join(', then ')
  return `${status === null ? '' : `${status}: `}${what}${ms === null ? '' : `, in ${seconds(ms / 1000)}`}`
}

export const markCounts = ({ results }: DrillRun): Readonly<Record<DrillMark, number>> => {
  const all = [...results.values()]
  const of = (mark: DrillMark): number => all.filter((scene) => scene.mark === mark).length
  return { pass: of('pass'), partial: of('partial'), safe: of('safe'), fail: of('fail') }
}

/** The last whole run of each model, in the memory of this tab. */
export interface DrillRuns {
  last(model: string): DrillRun | null
  keep(run: DrillRun): void
  /** A run that begins now. */
  begun(begins: DrillBegins, at: number): DrillRun
  forget(): void
}

const runsOf = (): DrillRuns => {
  const kept = new Map<string, DrillRun>()
  const last = (model: string): DrillRun | null => kept.get(model) ?? null
  return {
    last,
    keep: (run) => void kept.set(run.begins.model, run),
    begun(begins, at) {
      const before = last(begins.model)
      // What came before the run before is forgotten.
      return { at, begins, results: new Map(), before: before && { ...before, before: null } }
    },
    forget: () => kept.clear(),
  }
}

export const drillRuns = runsOf()
