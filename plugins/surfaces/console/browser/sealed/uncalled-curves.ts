/** Stands for threshold signatures and hashes to curves, which the curve's module makes at its load and nobody calls. */
const uncalled = (): null => null

export {
  uncalled as createFROST,
  uncalled as createHasher,
  uncalled as createOPRF,
  uncalled as expand_message_xmd,
  uncalled as _DST_scalar,
}
