import type { Flow } from '../../core/ports/flow.ts'
import { through } from './through.ts'

/** Takes what one read brought and adds what became whole to `into`; true when nothing more is to come. */
export type Unpack<T> = (read: Uint8Array, into: T[]) => boolean | void

/** Many things from each read, given one by one. What was whole before a fault is given before it. */
export const unpack = <T>(reads: AsyncIterable<Uint8Array>, take: Unpack<T>): Flow<T> => through(reads, { take })
