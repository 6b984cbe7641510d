import type { Reservation } from '../../../core/inference/metering/meter.ts'

/**
 * What a backend answered, its use settled; `truthOf` is null where the backend did not count. When none answers, all
 * that was reserved is handed back.
 */
export const settled = async <Answer, Truth>(
  reservation: Reservation<Truth>,
  run: Promise<{ readonly answer: Answer; readonly backend: string; readonly by?: string }>,
  truthOf: (answer: Answer) => Truth | null,
): Promise<Answer> => {
  try {
    const { answer, backend, by } = await run
    void reservation.settle(truthOf(answer), backend, by)
    return answer
  } catch (error) {
    void reservation.settle(null, null)
    throw error
  }
}
