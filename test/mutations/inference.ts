import type { Changes } from './mutation.ts'

const chunks = 'test/core/inference/collect-chunks.test.ts'
const meter = 'test/core/inference/metering/meter.test.ts'

export const inference: readonly Changes[] = [
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
    file: 'core/inference/metering/windows.ts',
    test: 'test/core/inference/metering/windows.test.ts',
    changes: [
      { breaks: 'A week begins on Monday.', from: 'getUTCDay() + 6', to: 'getUTCDay() + 5' },
      { breaks: 'A window ends where the next begins.', from: 'until: behind', to: 'until: inside' },
    ],
  },
  {
    file: 'core/inference/metering/meter.ts',
    test: meter,
    changes: [
      {
        breaks: 'A 429 of an overdrawn allowance tells what is left.',
        from: 'tell(charges, seen.ok ? seen.left : overdrawn(charges, seen), clock.now())',
        to: 'seen.ok ? tell(charges, seen.left, clock.now()) : {}',
      },
      {
        breaks: 'A refused call tells what is left.',
        from: "throw new TooMany('Allowance used up', { retryAfter: Math.ceil(spent.wait), headers })",
        to: "throw new TooMany('Allowance used up', { retryAfter: Math.ceil(spent.wait) })",
      },
      {
        breaks: 'A question that never fits names no time.',
        from: 'if (spent.wait === Infinity) throw',
        to: 'if (spent.wait === 0) throw',
      },
      {
        breaks: 'A call is settled once.',
        from: '          if (settled) return\n          settled = true\n          const truth',
        to: '          const truth',
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
        from: 'input > most ? input : Math.min(most, input + output)',
        to: 'Math.min(most, input + output)',
      },
      {
        breaks: 'A long answer is let in while the allowance is whole.',
        from: 'input > most ? input : Math.min(most, input + output)',
        to: 'input + output',
      },
    ],
  },
]
