import type { Changes } from './mutation.ts'

const chunks = 'test/core/inference/collect-chunks.test.ts'
const meter = 'test/core/inference/metering/meter.test.ts'
const oneWrite = 'test/core/http/one-write.test.ts'

export const inference: readonly Changes[] = [
  {
    file: 'core/inference/routing/resilient-stream.ts',
    test: oneWrite,
    changes: [
      {
        breaks: 'A rescue goes on behind all chunks of a read.',
        from: 'const chunk = made(run, next)',
        to: 'const chunk: Chunk | null = next',
      },
    ],
  },
  {
    file: 'core/inference/printed-events.ts',
    test: oneWrite,
    changes: [
      {
        breaks: 'Chunks of one read are printed together.',
        from: 'it.isFirst || it.isOver ? null',
        to: 'it.isFirst || !it.isOver ? null',
      },
    ],
  },
  {
    file: 'core/dialects/unpack.ts',
    test: oneWrite,
    changes: [
      {
        breaks: 'Pieces of one packet are unpacked together.',
        from: 'it.closed ? null : (reads?.ready?.() ?? null)',
        to: 'it.closed || reads !== null ? null : (null as Uint8Array | null)',
      },
    ],
  },
  {
    file: 'core/http/events.ts',
    test: oneWrite,
    changes: [
      { breaks: 'Events of one read go on in one write.', from: 'text.length < mostTogether', to: 'text === null' },
    ],
  },
  {
    file: 'core/inference/backends/records.ts',
    test: 'test/core/inference/backends/records.test.ts',
    changes: [
      {
        breaks: 'The latest calls stand last.',
        from: '[...kept.slice(oldest), ...kept.slice(0, oldest)]',
        to: '[...kept]',
      },
      { breaks: 'The oldest call makes room.', from: 'oldest = (oldest + 1) % most', to: 'oldest = 0' },
    ],
  },
  {
    file: 'core/inference/decisions/calibration.ts',
    test: 'test/calibrate.test.ts',
    changes: [
      { breaks: 'A number of options has its temperature.', from: 'byOptions[it.probabilities.length] ?? ', to: '' },
    ],
  },
  {
    file: 'core/inference/decisions/uncalibrated.ts',
    test: 'test/calibrate.test.ts',
    changes: [
      {
        breaks: 'What is in use is not calibrated once more.',
        from: 'entry: { ...found, settings: rest }',
        to: 'entry: { ...found, settings: { ...rest, ...found.settings } }',
      },
    ],
  },
  {
    file: 'core/inference/collect-chunks.ts',
    test: chunks,
    changes: [
      { breaks: 'A field of a chunk sets no prototype.', from: " || name === '__proto__'", to: '' },
      {
        breaks: 'Texts grow piece by piece.',
        from: 'growing.has(name) ? old + value : value',
        to: 'growing.has(name) ? value : value',
      },
      {
        breaks: 'What is said once is kept once.',
        from: "typeof old === 'string' && growing.has(name)",
        to: "typeof old === 'string'",
      },
      {
        breaks: 'Calls of tools have their order.',
        from: "Number(a['index'] ?? 0) - Number(b['index'] ?? 0)",
        to: '0',
      },
      {
        breaks: 'Pieces of one call belong together.',
        from: "if (typeof index === 'number') return",
        to: "if (typeof index === 'string') return",
      },
      { breaks: 'Usage of a stream is kept.', from: '...(usage !== undefined && { usage }) } as', to: '} as' },
      {
        breaks: 'A completion tells its reason to end.',
        from: 'delta: {}, finish_reason, ...more',
        to: 'delta: {}, finish_reason: null, ...more',
      },
    ],
  },
  {
    file: 'core/inference/metering/allowances.ts',
    test: meter,
    changes: [
      {
        breaks: 'A key shares the daily allowances of its makers.',
        from: '...(caller.makers ?? []).map(',
        to: '...(caller.makers ?? []).slice(0, 0).map(',
      },
      {
        breaks: 'A calendar day has an allowance of its own.',
        from: 'if (today === null) return',
        to: 'if (today !== null) return',
      },
    ],
  },
  {
    file: 'core/inference/metering/reservations.ts',
    test: 'test/core/inference/metering/budgets.test.ts',
    changes: [
      {
        breaks: 'A call without a price is refused where a budget holds.',
        from: "holds && settings.limits.budgets.unknownPrice === 'refuse'",
        to: 'false',
      },
      {
        breaks: 'What a call did cost is settled.',
        from: '(reserved) => cost ?? reserved',
        to: '(reserved) => reserved',
      },
    ],
  },
  {
    file: 'core/inference/metering/budget-warnings.ts',
    test: 'test/adapters/production/redis/budgets.test.ts',
    changes: [{ breaks: 'A share is told once.', from: 'if (first === null) continue\n', to: '' }],
  },
  {
    file: 'core/inference/metering/price.ts',
    test: 'test/core/inference/metering/prices.test.ts',
    changes: [
      {
        breaks: 'An unknown price is null.',
        from: 'if (each === undefined) return null',
        to: 'if (each === undefined) continue',
      },
      {
        breaks: 'Cached tokens are not charged twice.',
        from: 'used.input - cached - written',
        to: 'used.input - written',
      },
      { breaks: 'A long prompt has its own prices.', from: 'used.input > long.above', to: 'used.input < long.above' },
    ],
  },
  {
    file: 'core/inference/metering/prices.ts',
    test: 'test/core/inference/metering/prices.test.ts',
    changes: [
      { breaks: 'The configuration is before the table.', from: 'configured(settings, mode) ??', to: 'null ??' },
      { breaks: 'Two currencies are never added.', from: ": currency === 'USD'", to: ': true' },
    ],
  },
  {
    file: 'core/inference/metering/budgets.ts',
    test: 'test/core/inference/metering/budgets.test.ts',
    changes: [
      { breaks: 'The gateway has a budget.', from: "      ...each('gateway', '', limits.gateway, now),\n", to: '' },
      { breaks: 'A refused call is told whose budget it is.', from: '`${of}/${period}`', to: '`${period}/${of}`' },
      { breaks: 'A team has a budget.', from: '      ...ofTeam(caller, now),\n', to: '' },
      { breaks: 'Teams of two organisations are apart.', from: '`${organization}/${team}`', to: 'team' },
      { breaks: 'A soft budget refuses nothing.', from: 'soft: soft.includes(of)', to: 'soft: false' },
    ],
  },
  {
    file: 'core/inference/metering/budget-warnings.ts',
    test: 'test/core/inference/metering/budgets.test.ts',
    changes: [{ breaks: 'A share is told when it is reached.', from: '>= percent - 1e-9', to: '> percent' }],
  },
  {
    file: 'core/inference/routing/continue-stream.ts',
    test: 'test/core/inference/metering/budgets.test.ts',
    changes: [
      {
        breaks: 'A rescued answer has the details of both its parts.',
        from: 'isFields(one) && isFields(b[name]) ? added(one, b[name]) : other',
        to: 'other',
      },
    ],
  },
  {
    file: 'core/inference/metering/windows.ts',
    test: 'test/core/inference/metering/windows.test.ts',
    changes: [
      { breaks: 'A week begins on Monday.', from: 'getUTCDay() + 6', to: 'getUTCDay() + 5' },
      { breaks: 'A window ends where the next begins.', from: 'until: behind', to: 'until: inside' },
    ],
  },
  {
    file: 'core/inference/metering/reservations.ts',
    test: meter,
    changes: [
      {
        breaks: 'A 429 of an overdrawn allowance tells what is left.',
        from: 'tell(work, seen.ok ? seen.left : overdrawnHeaders(charges, seen), now)',
        to: 'seen.ok ? tell(work, seen.left, now) : {}',
      },
      {
        breaks: 'A refused call tells what is left.',
        from: "throw new TooMany('Allowance used up', { retryAfter: Math.ceil(wait), headers })",
        to: "throw new TooMany('Allowance used up', { retryAfter: Math.ceil(wait) })",
      },
      {
        breaks: 'A question that never fits names no time.',
        from: 'if (wait === Infinity) throw',
        to: 'if (wait === 0) throw',
      },
      {
        breaks: 'A call is settled once.',
        from: '      if (settled) return\n      settled = true\n      const truth',
        to: '      const truth',
      },
      {
        breaks: 'A backend that does not count is counted as reserved.',
        from: 'counted ?? (backend === null ? null : guess)',
        to: 'counted',
      },
      {
        breaks: 'A call that no backend answered is handed back.',
        from: 'counted ?? (backend === null ? null : guess)',
        to: 'counted ?? guess',
      },
      {
        breaks: 'A long question never fits.',
        from: 'question > most ? question : Math.min(most, all)',
        to: 'Math.min(most, all)',
      },
      {
        breaks: 'A long answer is let in while the allowance is whole.',
        from: 'question > most ? question : Math.min(most, all)',
        to: 'all',
      },
    ],
  },
  {
    file: 'core/inference/routing/attempt.ts',
    test: 'test/core/inference/inference.test.ts',
    changes: [
      {
        breaks: 'A refused request is a sign of life.',
        from: 'if (fault instanceof BadRequest) breaker.ok(pass)',
        to: 'if (fault instanceof BadRequest) breaker.fault(pass, now)',
      },
      {
        breaks: 'A stream that comes too late is closed.',
        from: 'if (done) return plan.drop?.(answer)',
        to: 'if (done) return',
      },
      { breaks: 'An attempt that is given up ends.', from: '      controller.abort(reason)\n', to: '' },
      { breaks: 'An attempt that is given up gives its pass back.', from: '      breaker.left(pass)\n', to: '' },
    ],
  },
  {
    file: 'core/inference/routing/resilient-stream.ts',
    test: 'test/core/inference/inference.test.ts',
    changes: [
      {
        breaks: 'A failure behind the finish reason does not affect the answer.',
        from: '  if (run.unfinished <= 0) return end(run, null)\n',
        to: '',
      },
      { breaks: 'A broken stream is rescued as often as allowed.', from: ' && rescues < plan.rescues', to: '' },
      { breaks: 'An answer that thinks is not gone on with.', from: ' && !thinking', to: '' },
      {
        breaks: 'A reader that is slow to ask breaks no stream.',
        from: 'if (run.give !== null && run.leg !== null)',
        to: 'if (run.leg !== null)',
      },
      {
        breaks: 'A reader that leaves ends the stream of the backend.',
        from: '    close(leg, reason)\n  }\n  end',
        to: '  }\n  end',
      },
      { breaks: 'The usage of a broken part is counted.', from: 'sumUsage(before, it.usage)', to: 'it.usage' },
      {
        breaks: 'The first token closes a breaker that is half open.',
        from: '    leg.breaker.ok(pass)\n',
        to: '',
      },
    ],
  },
  {
    file: 'core/inference/routing/failover.ts',
    test: 'test/core/inference/inference.test.ts',
    changes: [
      {
        breaks: 'Where every backend is full the caller is told so.',
        from: 'isFull ? full(course) : last',
        to: 'last',
      },
      {
        breaks: 'One backend that fails otherwise makes it a failure.',
        from: 'isFull &&=',
        to: 'isFull =',
      },
      {
        breaks: 'The earliest time of all is told.',
        from: 'unsaid : Math.min(...left)',
        to: 'unsaid : Math.max(...left)',
      },
      { breaks: 'An account that is used up names no time.', from: 'if (isUsedUp) return', to: 'if (false) return' },
      {
        breaks: 'A lone backend of a sealed stream has all the time.',
        from: 'patient && at === order.length - 1 ? total : each',
        to: 'each',
      },
      {
        breaks: 'Where another backend is left each has its time.',
        from: 'patient && at === order.length - 1 ? total : each',
        to: 'patient ? total : each',
      },
    ],
  },
  {
    file: 'core/dialects/redact-sentence.ts',
    test: 'test/core/dialects/refusal.test.ts',
    changes: [
      { breaks: 'Nothing is told on the operator’s account.', from: 'if (accounts.test(whole)) return null', to: '' },
      { breaks: 'A sentence is short.', from: 'cleaned.slice(0, mostCharacters)', to: 'cleaned' },
      { breaks: 'Paths of a request are no hosts.', from: '(found) => (isPath(', to: '(found) => (!isPath(' },
      { breaks: 'Keys without a mark are keys.', from: "(isSecret(found) ? '[key]' : found)", to: 'found' },
    ],
  },
  {
    file: 'core/dialects/backend.ts',
    test: 'test/core/dialects/refusal.test.ts',
    changes: [
      {
        breaks: 'No sentence of a 403 is told.',
        from: 'return refusedFor(refusal, status === 403 ? null : refusal.sentence, cause)',
        to: 'return refusedFor(refusal, refusal.sentence, cause)',
      },
      {
        breaks: 'An account that is used up is no mistake of the caller’s.',
        from: "&& code !== 'insufficient_quota'",
        to: '',
      },
    ],
  },
  {
    file: 'core/dialects/refusal.ts',
    test: 'test/core/dialects/refusal.test.ts',
    changes: [
      {
        breaks: 'A refusal without words is known by its status.',
        from: 'if (status === 413)',
        to: 'if (status === 0)',
      },
      { breaks: 'What another backend said inside is heard.', from: 'message: raw.message ??', to: 'message:' },
      { breaks: 'A page is no sentence.', from: '/^[<{[]/.test(trimmed)', to: '/^[{[]/.test(trimmed)' },
    ],
  },
  {
    file: 'core/inference/models/catalog.ts',
    test: 'test/core/inference/models/catalog.test.ts',
    changes: [
      { breaks: 'A promise that no provider can keep stops the start.', from: '!candidates.some(goesOn)', to: 'false' },
      { breaks: 'A model is found by its id.', from: ' ?? byId.get(model)', to: '' },
    ],
  },
  {
    file: 'core/inference/models/model-lists.ts',
    test: 'test/core/inference/models/catalog.test.ts',
    changes: [
      { breaks: 'A list that lacks a provider is not whole.', from: 'known?.whole === true', to: 'known !== null' },
    ],
  },
]
