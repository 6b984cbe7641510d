import * as v from 'valibot'
import { type Check, checks } from '../wire/body.ts'

const sealed = (check: Check, expected: string) =>
  v.pipe(
    v.string(),
    v.check((text) => check(text) === null, expected),
  )

/** The outer fields of sealed requests; what is in them is the enclave's business. */
export const hex = {
  cipherText: sealed(checks.cipherText, '1120, 1088 or 32 bytes in lower-case hex'),
  nonce: sealed(checks.nonce, '24 bytes in lower-case hex'),
  params: sealed(checks.params, 'sealed JSON in lower-case hex'),
  key: sealed(checks.key, 'a sealed key in lower-case hex'),
  enclaveKid: v.optional(sealed(checks.enclaveKid, '8 bytes in lower-case hex')),
}
