import type { Running } from './answers.ts'
import { type Child, el } from './element.ts'
import { count, moment } from './format.ts'
import { type KeyNames, keyWords, teamOf } from './live-table.ts'
import { badge, facts, note, section } from './parts.ts'
import { lengthOf, standOf, timeOf } from './running.ts'
import { attemptTable, waterfall } from './waterfall.ts'

const about = (it: Running, names: KeyNames, now: number): HTMLElement => {
  const { kind, words } = standOf(it)
  const tokens = it.tokens && `${count(it.tokens.input)} in, ${count(it.tokens.output)} out`
  return section(
    'Request',
    facts([
      ['Status', badge(kind, words)],
      ['Began', moment(it.at)],
      ['Time', `${timeOf(lengthOf(it, now))}${it.ms === null && it.lost !== true ? ', and it runs' : ''}`],
      ['First token', timeOf(it.first_token)],
      ['Route', el('code', {}, it.route)],
      ['Model', it.model ?? '–'],
      ['Backend', it.backend ?? '–'],
      ['Tokens', tokens ?? '–'],
      ['Key', it.key === null ? '–' : keyWords(it.key, names)],
      ['Team', teamOf(it, names) ?? '–'],
      ['Organisation', it.organization ?? '–'],
      ['Id', el('code', {}, it.id), 'wide'],
    ]),
  )
}

/** One request with its attempts. */
export const liveDetail = (it: Running, names: KeyNames, curl: string, now: number): readonly Child[] => [
  about(it, names, now),
  it.attempts.length === 0
    ? note('The gateway saw no attempt: a sealed request is answered inside the enclave.')
    : section('Attempts in time', waterfall(it, now)),
  attemptTable(it, curl),
  it.attempts_left_out > 0 && note(`${count(it.attempts_left_out)} further attempts are not listed.`),
]
