import type { Allowance, Charge } from '../../../core/ports/rate-limiter.ts'
import type { Consumption } from '../../../core/inference/metering/consumption.ts'

/** What a call takes from an allowance before it goes out. Its prompt costs `question`, and all of it `cost` at most. */
export const chargesFor = (
  { input, output }: Consumption,
  question: number,
  cost: number,
  amountWithin: (most: number, question: number, all: number) => number,
) => {
  const amounts: Readonly<Record<Allowance['concern'], (most: number) => number>> = {
    requests: () => 1,
    tokens: (most) => amountWithin(most, input, input + output),
    money: (most) => amountWithin(most, question, cost),
  }
  return ({ allowance }: Pick<Charge, 'allowance'>): Charge => ({
    allowance,
    amount: amounts[allowance.concern](allowance.most),
  })
}
