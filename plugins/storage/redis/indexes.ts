import type { Kind } from '../../../core/ports/metadata-store.ts'
import { storedName } from '../shared/stored-name.ts'
import type { Connection } from './connection.ts'
import type { KeysOf } from './keys.ts'
import type { Indexes } from './query.ts'
import { announce } from './scripts.ts'

/** What this process knows of the indexes in Redis. */
export interface IndexStates {
  /** Runs work that depends on the states of a kind's indexes. Runs it again when Redis has other indexes. */
  within<T, R>(kind: Kind<T>, work: (indexes: Indexes) => Promise<R>): Promise<R>
  /** Resolves when no index is being filled. */
  settled(): Promise<unknown>
}

/** Redis gives a hash as a flat list: name, state, name, state. */
const statesOf = (flat: readonly string[]): Indexes => {
  const states = new Map<string, string>()
  for (let i = 0; i + 1 < flat.length; i += 2) states.set(flat[i] ?? '', flat[i + 1] ?? '')
  return states
}

/** The scripts answer STALE when Redis has other indexes than the call assumes. */
const isStale = (fault: unknown): boolean =>
  fault instanceof Error && fault.cause instanceof Error && fault.cause.message.startsWith('STALE')

/** `fill` adds older rows to a new index while other work continues. */
export const indexStates = (
  { ask }: Connection,
  keysOf: KeysOf,
  fill: <T>(kind: Kind<T>) => Promise<void>,
  onFault: (cause: unknown) => void,
): IndexStates => {
  /** The states by kind. A kind is forgotten after its filling, so that the next call asks for the new states. */
  const known = new Map<string, Promise<Indexes>>()
  let filling: Promise<unknown> = Promise.resolve()

  const states = <T>(kind: Kind<T>): Promise<Indexes> => {
    const found = known.get(kind.name)
    if (found) return found
    const { index, indexes } = keysOf(kind)
    // The index without fields lists all rows by their ids.
    const names = ['', ...kind.indexes.map((fields) => fields.map(storedName).join())]
    const loaded = ask<string[]>(announce, [index, indexes], ['', ...names]).then(statesOf)
    const forget = () => known.delete(kind.name)
    known.set(kind.name, loaded)
    loaded.then((found) => {
      if (names.every((name) => found.get(name) === 'whole')) return
      filling = fill(kind)
        .then(() => ask(announce, [index, indexes], ['whole', ...names]))
        .catch(onFault)
        .finally(forget)
    }, forget)
    return loaded
  }

  return {
    async within(kind, work) {
      for (let isSecond = false; ; isSecond = true) {
        try {
          return await work(await states(kind))
        } catch (fault) {
          // A Redis without its rows, or a newer replica, has other indexes than this process knows.
          if (isSecond || !isStale(fault)) throw fault
          known.delete(kind.name)
        }
      }
    },
    settled: () => filling,
  }
}
