/** A value that is mostly there at once: a promise costs as much as the work of a short step. */
export type Soon<T> = T | Promise<T>

/** Whether the value has to be waited for. */
export const isLater = <T>(value: Soon<T>): value is Promise<T> => value instanceof Promise

/** Goes on with the value, at once where it is there. A fault of a value that comes later rejects. */
export const soon = <T, U>(value: Soon<T>, then: (value: T) => Soon<U>): Soon<U> =>
  value instanceof Promise ? value.then(then) : then(value)
