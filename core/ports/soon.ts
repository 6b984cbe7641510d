/** A value that is mostly there at once: a promise costs as much as the work of a short step. */
export type Soon<T> = T | Promise<T>

/** Whether the value has to be waited for. */
export const isLater = <T>(value: Soon<T>): value is Promise<T> => value instanceof Promise

/** Goes on with the value, at once where it is there. A fault of a value that comes later rejects. */
export const soon = <T, U>(value: Soon<T>, then: (value: T) => Soon<U>): Soon<U> =>
  value instanceof Promise ? value.then(then) : then(value)

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
