import { Refusal } from './reasons.ts'

/** A check by its name, and whether it held. */
export interface Check {
  readonly id: string
  readonly ok: boolean
}

/** The checks of one piece of evidence in order, up to the first failure. */
export interface Checks {
  /** Runs a check. An error other than a refusal becomes `evidence_malformed`. */
  run<T>(id: string, work: () => T | Promise<T>): Promise<T>
  readonly done: readonly Check[]
}

/** A new, empty list for one piece of evidence. */
export const newChecks = (): Checks => {
  const done: Check[] = []
  return {
    done,
    async run(id, work) {
      try {
        const result = await work()
        done.push({ id, ok: true })
        return result
      } catch (error) {
        done.push({ id, ok: false })
        throw error instanceof Refusal ? error : new Refusal('evidence_malformed', id, error)
      }
    },
  }
}
