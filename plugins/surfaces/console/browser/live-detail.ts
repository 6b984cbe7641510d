import type { Running } from './answers.ts'
import { type Child, el } from './element.ts'
import { count, moment } from './format.ts'
import { type KeyNames, keyWords, teamOf } from './live-table.ts'
import { badge, facts, note, section } from './parts.ts'
import { lengthOf, standOf, timeOf } from './running.ts'
import { attemptTable, waterfall } from './waterfall.ts'

const about = (request: Running, names: KeyNames, now: number): HTMLElement => {
  const { kind, words } = standOf(request)
  const tokens = request.tokens && `${count(request.tokens.input)} in, ${count(request.tokens.output)} out`
  return section(
    'Request',
    facts([
      ['Status', badge(kind, words)],
      ['Began', moment(request.at)],
      [
        'Time',
        `${timeOf(lengthOf(request, now))}${request.ms === null && request.lost !== true ? ', and it runs' : ''}`,
      ],
      ['First token', timeOf(request.first_token)],
      ['Route', el('code', {}, request.route)],
      ['Model', request.model ?? '–'],
      ['Backend', request.backend ?? '–'],
      ['Tokens', tokens ?? '–'],
      ['Key', request.key === null ? '–' : keyWords(request.key, names)],
      ['Team', teamOf(request, names) ?? '–'],
      ['Organisation', request.organization ?? '–'],
      ['Id', el('code', {}, request.id), 'wide'],
    ]),
  )
}

/** One request with its attempts. */
export const liveDetail = (request: Running, names: KeyNames, curl: string, now: number): readonly Child[] => [
  about(request, names, now),
  request.attempts.length === 0
    ? note('The gateway saw no attempt: a sealed request is answered inside the enclave.')
    : section('Attempts in time', waterfall(request, now)),
  attemptTable(request, curl),
  request.attempts_left_out > 0 && note(`${count(request.attempts_left_out)} further attempts are not listed.`),
]
