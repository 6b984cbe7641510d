/** Where a guard books its work; the nanoseconds are summed, and nothing has to wait. */
export const bookedWork = () => {
  let sum = 0
  return {
    pace: {
      spend(ns: number): null {
        sum += ns
        return null
      },
    },
    ns: () => sum,
  }
}
