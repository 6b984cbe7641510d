import type { SealgateError } from '../../../../sealed/client/error.ts'
import { refusalLines, verdictLines } from '../../../../sealed/client/verdict-lines.ts'
import type { Verified } from '../../../../sealed/client/verified.ts'
import type { Check } from '../../../../sealed/evidence/checks.ts'
import { type Child, el } from '../element.ts'
import { moment } from '../format.ts'
import { facts, section, stack } from '../parts.ts'
import { type Attested, epochOf, hexHead } from './attestations.ts'
import { checkWords } from './check-words.ts'

const checkList = (checks: readonly Check[]): Child =>
  checks.length > 0 &&
  el(
    'ol',
    { class: 'checks' },
    checks.map(({ id, ok }) =>
      el(
        'li',
        { class: ok ? 'held' : 'failed' },
        el('b', {}, `${ok ? '✓' : '✗'} ${id}`),
        el('span', {}, ok ? checkWords(id) : 'This check failed.'),
      ),
    ),
  )

const lineList = (lines: readonly string[]): HTMLElement =>
  el(
    'ul',
    { class: 'lines' },
    lines.map((line) => el('li', {}, line)),
  )

/** What travelled: the challenge, the kind of evidence, and the keys. */
const travelled = (attested: Attested | null, verified: Verified | null): HTMLElement | null =>
  attested &&
  facts([
    ['Challenge', el('code', {}, hexHead(attested.challenge)), 'wide'],
    ['Evidence', attested.evidence.type],
    ['Epoch', epochOf(attested) ?? '–'],
    ['Key set', `${attested.keyset.length / 2} bytes`],
    ['Asked', moment(attested.at)],
    ...(verified === null
      ? []
      : [
          ['Keys', verified.keyset.kids.map((kid) => el('code', {}, `${kid} `)), 'wide'] as const,
          ['Keys end', moment(verified.keyset.ends)] as const,
        ]),
  ])

/** Only a platform is green: everything else proves nothing, or less than it seems. */
const verdictBanner = (proved: boolean, words: string): HTMLElement =>
  el('p', { class: `verdict ${proved ? 'proved' : 'unproved'}`, role: 'status' }, words)

export interface ProofPane {
  readonly node: HTMLElement
  waits(): void
  verified(verified: Verified, how: Attested | null): void
  refused(error: SealgateError, how: Attested | null): void
  /** The reader’s policy cannot be used. */
  misled(words: string): void
}

const bannerWords = ({ verified }: Verified): string => {
  if (verified === 'platform') return 'The hardware proves what runs there'
  if (verified === 'own') return 'A verifier of your own accepts the enclave'
  return `A ${verified} enclave: it proves nothing`
}

/** The proof as it happens. */
export const proofPane = (): ProofPane => {
  const place = stack()
  const show = (...content: readonly (HTMLElement | null | Child)[]): void =>
    place.replaceChildren(...content.filter((child) => child instanceof Node))
  return {
    node: section('What the enclave proves', place),
    waits: () => show(el('p', { role: 'status' }, 'A new challenge is on its way.')),
    verified: (verified, how) =>
      show(
        verdictBanner(verified.verified === 'platform', bannerWords(verified)),
        travelled(how, verified),
        lineList(verdictLines(verified)),
        checkList(verified.checks),
      ),
    refused: (error, how) =>
      show(
        verdictBanner(
          false,
          error.fault === 'insecure'
            ? 'A development enclave: it proves nothing. This tab seals nothing to it.'
            : 'Refused: this tab seals nothing to it.',
        ),
        travelled(how, null),
        error.fault !== 'insecure' && lineList(refusalLines(error).slice(error.checks.length)),
        checkList(error.checks),
      ),
    misled: (words) => show(verdictBanner(false, words)),
  }
}
