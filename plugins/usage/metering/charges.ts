import type { Allowance, Charge } from '../../../core/ports/rate-limiter.ts'
import type { Consumption } from '../../../core/inference/metering/consumption.ts'

/**
 * What a call takes from an allowance before it goes out. Its prompt costs `question`, and all of it `cost` at most; null
 * where nobody knows.
 */
export const chargesFor = (
  { input, output }: Consumption,
  question: number,
  cost: number | null,
  amountWithin: (most: number, question: number, all: number) => number,
) => {
  const amounts: Readonly<Record<Allowance['concern'], (most: number) => number>> = {
    requests: () => 1,
    tokens: (most) => amountWithin(most, input, input + output),
    money: (most) => amountWithin(most, question, cost ?? 0),
  }
  return ({ allowance }: Pick<Charge, 'allowance'>): Charge => ({
    // A call that costs nothing has room in an overdrawn budget, too.
    allowance: cost === 0 && allowance.concern === 'money' ? { ...allowance, soft: true } : allowance,
    amount: amounts[allowance.concern](allowance.most),
  })
}
