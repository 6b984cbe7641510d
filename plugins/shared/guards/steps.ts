import { type Soon, isLater } from '../../../core/ports/soon.ts'

/** Steps that may have to wait: `yield* waited(value)` gives the value of each. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>

/** The value of a step. */
export function* waited<T>(value: Soon<T>): Steps<T> {
  return (isLater(value) ? yield value : value) as T
}

/** Does the steps, at once where none of them has to wait. */
export const done = <T>(steps: Steps<T>): Soon<T> => {
  const after = ({ done, value }: IteratorResult<Promise<unknown>, T>): Soon<T> =>
    done === true
      ? value
      : value.then(
          (given) => after(steps.next(given)),
          (fault: unknown) => after(steps.throw(fault)),
        )
  return after(steps.next())
}
