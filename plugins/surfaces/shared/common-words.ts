import type { Sentences } from '../../../core/ports/chapter.ts'
import written from './common-words.json' with { type: 'json' }

/** Sentences for properties that stand in several chapters. */
export const shared: Sentences = written.shared

/** Words by which programs tell errors of one status apart. */
export const codes: Sentences = written.codes
