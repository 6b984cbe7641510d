import * as v from 'valibot'

/** Checks that the settings name one way of signing in, and that whole; `expected` says which ways there are. */
export const oneSignIn = <T extends object>(isOne: (settings: T) => boolean, expected: string) =>
  v.rawCheck<T>(({ dataset, addIssue }) => {
    if (dataset.typed && !isOne(dataset.value)) addIssue({ expected })
  })
