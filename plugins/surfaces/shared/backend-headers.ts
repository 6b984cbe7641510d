import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import type { Served } from '../../../core/inference/task.ts'

type Headers = Readonly<Record<string, string>>

const none: Headers = {}

/** A name in a list of a header. */
export const printable = (name: string): string => name.replace(/[^\x21-\x7e]|,/g, '_')

/** Who answers, as `provider/model`, where several backends may. */
export const answeredBy = ({ candidates }: Pick<Entry, 'candidates'>, by: string | undefined): Headers =>
  by === undefined || candidates.length < 2 ? none : { 'x-sealgate-answered-by': printable(by) }

/** Who was asked, in order, where the first one did not answer. */
const attemptsOf = ({ tried }: Pick<Served, 'tried'>): Headers =>
  tried.length < 2 ? none : { 'x-sealgate-attempts': tried.map(printable).join(', ') }

/** Both of an answer. */
export const askedHeaders = (entry: Entry, served: Pick<Served, 'tried' | 'by'>): Headers => ({
  ...attemptsOf(served),
  ...answeredBy(entry, served.by),
})
