/** A value that is mostly there at once: a promise costs as much as the work of a short step. */
export type Soon<T> = T | Promise<T>

/** Whether the value has to be waited for. */
export const isLater = <T>(it: Soon<T>): it is Promise<T> => it instanceof Promise

/** Goes on with the value, at once where it is there. A fault of a value that comes later rejects. */
export const soon = <T, U>(it: Soon<T>, then: (value: T) => Soon<U>): Soon<U> =>
  it instanceof Promise ? it.then(then) : then(it)
