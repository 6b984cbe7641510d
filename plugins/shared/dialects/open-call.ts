import type { ToolCallPart } from '../../../core/ports/upstream.ts'

/** 1 where the first piece goes on with the open call: an enclave joins chunks, and that piece came before all else. */
export const goesOn = ([first]: readonly ToolCallPart[], open: number | undefined): 0 | 1 =>
  first !== undefined && open !== undefined && (first.index ?? 0) === open ? 1 : 0
