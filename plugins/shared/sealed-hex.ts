import * as v from 'valibot'
import { type Check, checks } from '../sealed/wire/body.ts'

const sealed = (check: Check) =>
  v.pipe(
    v.string(),
    v.check((text) => check(text) === null, (check('') ?? '').replace('Expected ', '')),
  )

/** The outer fields of sealed requests; their content is for the enclave alone. */
export const hex = {
  cipherText: sealed(checks.cipherText),
  lasting: sealed(checks.lasting),
  nonce: sealed(checks.nonce),
  params: sealed(checks.params),
  key: sealed(checks.key),
  enclaveKid: v.nullish(sealed(checks.enclaveKid)),
}
