import { readFileSync } from 'node:fs'

/** A verifier with one check broken. The named case of the named test has to notice it by its outcome. */
export interface Mutant {
  /** As docs/evidence.md numbers them. */
  readonly number: number
  readonly name: string
  /** Under plugins/sealed/evidence; what stands there exactly once, and what stands there instead. */
  readonly file: string
  readonly text: string
  readonly instead: string
  /** A second place of the same file. */
  readonly also?: readonly [text: string, instead: string]
  /** The file of test/plugins/sealed/evidence, and the assertion in it that fails. */
  readonly test: string
  readonly by: string
}

export const mutants = JSON.parse(readFileSync('test/lab/mutations/evidence/mutants.json', 'utf8')) as readonly Mutant[]
