import type { Usage } from '../../core/ports/usage.ts'

/** Counts of several calls together; one guess makes the sum a guess. */
export const totalUsage = (used: readonly Usage[]): Usage => {
  const sums = parts.map((part) => [part, used.reduce((sum, usage) => sum + (usage[part] ?? 0), 0)] as const)
  return {
    input: used.reduce((sum, { input }) => sum + input, 0),
    output: used.reduce((sum, { output }) => sum + output, 0),
    ...Object.fromEntries(sums.filter(([, sum]) => sum > 0)),
    ...(used.some(({ estimated }) => estimated === true) && { estimated: true }),
  }
}

const parts = ['reasoning', 'cached', 'written', 'writtenHour', 'audioInput', 'audioOutput'] as const
