/** An iterator that may also give what is there already, so that one read needs one promise however much it brought. */
export interface PromptIterator<T> extends AsyncIterator<T> {
  /** Null where the next one has to be waited for, and at the end. Never throws: a fault waits for `next`. */
  ready?(): T | null
}
