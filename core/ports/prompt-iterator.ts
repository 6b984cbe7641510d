/** An iterator that also gives items which are there already: a read needs one promise, however many items it brought. */
export interface PromptIterator<T> extends AsyncIterator<T> {
  /** Null where the next item has to be waited for, and at the end. Never throws: a fault waits for `next`. */
  ready?(): T | null
}
