/** The result of the work. Throws after `ms` ms without a result. */
export const withTimeout = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('a worker does not answer')), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
