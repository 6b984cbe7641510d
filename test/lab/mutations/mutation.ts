/** One change of the code that breaks a promise. */
export interface Change {
  /** The promise, as a sentence that is false after the change. */
  readonly breaks: string
  /** Stands once in the file. */
  readonly from: string
  readonly to: string
  /** Why the changed code keeps all promises; such a mutation is not played. */
  readonly equivalent?: string
}

/** Changes of one file that one test notices. */
export interface Changes {
  readonly file: string
  readonly test: string
  readonly changes: readonly Change[]
}

export interface Mutation extends Change {
  readonly file: string
  /** The test that must fail. */
  readonly test: string
}
