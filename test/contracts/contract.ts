/** What a port promises, one sentence each. A check throws when the promise is broken. */
export type Contract<T> = Readonly<Record<string, (fresh: () => Promise<T>) => Promise<void>>>

/** What the suites need of a test of tap's, of node:test's or of another runner's. */
export interface Runner<R> {
  test(name: string, options: { readonly skip?: string }, body: (t: R) => Promise<void>): PromiseLike<unknown>
}

/** Runs every promise against one implementation. Skipping needs a reason, and a sentence that exists. */
export const conform = async <T, C extends Contract<T>, R extends Runner<R>>(
  t: R,
  contract: C & Contract<T>,
  fresh: (t: R) => T | Promise<T>,
  skip: { readonly [K in keyof C]?: string } = {},
): Promise<void> => {
  for (const [promise, check] of Object.entries(contract)) {
    const reason = skip[promise]
    await t.test(promise, reason ? { skip: reason } : {}, (t) => check(async () => fresh(t)))
  }
}

/** A right implementation and, for each promise, what is wrong with one that breaks it: both sides prove that the check is sharp. */
export interface Proof<T, C extends Contract<T>> {
  readonly contract: C
  right(): T | Promise<T>
  readonly wrong: { readonly [K in keyof C]: (right: T) => Partial<T> }
}

export const proof = <T, C extends Contract<T>>(proof: Proof<T, C>): Proof<T, C> => proof
