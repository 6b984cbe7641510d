/**
 * The only file that knows the DI library. Everything else sees ports and needs.
 */
import 'reflect-metadata'
import { container, instanceCachingFactory, type DependencyContainer } from 'tsyringe'
import type { Section } from './ports/section.ts'

declare const contents: unique symbol

/** A named socket. `T` lives only in the type; the symbol is what the container sees. */
export interface Port<T, Many extends boolean = boolean> {
  readonly name: string
  readonly key: symbol
  readonly many: Many
  /** What each part has; parts are looked at when they are made. */
  readonly members: Members
  readonly [contents]?: T
}

/** Required members of a part by their kinds; a list names the only words that a member may be. */
export type Members = Readonly<Record<string, 'text' | 'function' | 'list' | 'schema' | readonly string[]>>

/** Members that are functions. */
export const functions = (...names: readonly string[]): Members =>
  Object.fromEntries(names.map((name) => [name, 'function'] as const))

/** A port that exactly one plugin fills. */
export const one = <T>(name: string, members: Members = {}): Port<T, false> => {
  return { name, key: Symbol(name), many: false, members }
}

/** A port that any number of plugins share. */
export const many = <T>(name: string, members: Members = {}): Port<T, true> => {
  return { name, key: Symbol(name), many: true, members }
}

/** Ports by the names under which a plugin receives what fits them. */
export type Needs = Readonly<Record<string, Port<unknown>>>

/** What a plugin receives for what it asked. */
export type Supplied<N extends Needs> = {
  readonly [K in keyof N]: N[K] extends Port<infer T, infer M> ? (M extends true ? readonly T[] : T) : never
}

/** A plugin with its settings already checked, ready to be put in the container. */
export interface Fitting<T> {
  readonly port: Port<T>
  readonly name: string
  /** True for a part that every generation makes anew. */
  readonly renewed?: boolean
  /** The ports that it uses; unknown when absent. */
  readonly needs?: readonly Port<unknown>[]
  /** Members of the settings that belong to it; none when absent. */
  readonly sections?: readonly Section[]
  make(supply: <N extends Needs>(needs: N) => Supplied<N>): T
}

interface Disposable {
  dispose?(): Promise<void> | void
}

/**
 * tsyringe holds the registrations and the instances. Three things it does not do are here: it finds no
 * cycles between factories, gives no empty list for a port nobody fits, and disposes only what it
 * constructed by class, all at once.
 */
export class Container {
  readonly #inner: DependencyContainer
  readonly #parent: Container | null
  readonly #made: Disposable[] = []
  readonly #lent = new Map<Fitting<unknown>, { readonly part: Disposable; children: number }>()
  readonly #path: string[] = []

  constructor(parent: Container | null = null) {
    this.#parent = parent
    this.#inner = (parent === null ? container : parent.#inner).createChildContainer()
  }

  /**
   * A container with parts of its own beside those of this one: a port for one is filled by the child first, a port for
   * many by both. Dispose of the child before its parent.
   */
  child(): Container {
    return new Container(this)
  }

  /** A second fitting on a port for one replaces the first; on a port for many it joins them. */
  fit<T>(fitting: Fitting<T>): void {
    this.#register(fitting.port, () => {
      const made = fitting.make(this.supply)
      this.#made.push(made as Disposable)
      return made
    })
  }

  /** As `fit`, of what other children of the same parent are given too: made once, out of what the parent has, and disposed with the last of them. */
  share<T>(fitting: Fitting<T>): void {
    const parent = this.#parent
    if (parent === null) throw new Error('Only a child shares')
    this.#register(fitting.port, () => {
      const made = parent.#lend(fitting)
      this.#made.push({ dispose: () => parent.#takeBack(fitting) })
      return made
    })
  }

  /**
   * Throws where no plugin fits a port for one, and where plugins need each other in a circle. A port for
   * many without a fitting gives an empty list.
   */
  readonly supply = <N extends Needs>(needs: N): Supplied<N> => {
    const supplied: Record<string, unknown> = {}
    for (const [name, port] of Object.entries(needs)) supplied[name] = this.#get(port)
    return supplied as Supplied<N>
  }

  /** Last made, first disposed: a user goes before the things that it needs. A failing disposal does not stop the others. */
  async dispose(): Promise<void> {
    const faults: unknown[] = []
    for (const part of this.#made.splice(0).reverse()) {
      try {
        await part.dispose?.()
      } catch (fault) {
        faults.push(fault)
      }
    }
    await this.#inner.dispose()
    if (faults.length > 0) throw new AggregateError(faults, 'Not everything could be closed')
  }

  /** Of a port for many: what the parent has, and then its own. */
  #all(port: Port<unknown>): readonly unknown[] {
    const given = this.#parent?.supply({ all: port as Port<unknown, true> }).all ?? []
    return this.#inner.isRegistered(port.key) ? [...given, ...this.#inner.resolveAll<unknown>(port.key)] : given
  }

  #register<T>(port: Port<T>, make: () => T): void {
    this.#inner.register(port.key, { useFactory: instanceCachingFactory(make) })
  }

  #lend<T>(fitting: Fitting<T>): T {
    let lent = this.#lent.get(fitting)
    if (lent === undefined) {
      lent = { part: fitting.make(this.supply) as Disposable, children: 0 }
      this.#lent.set(fitting, lent)
    }
    lent.children++
    return lent.part as T
  }

  async #takeBack(fitting: Fitting<unknown>): Promise<void> {
    const lent = this.#lent.get(fitting)
    if (lent === undefined || --lent.children > 0) return
    this.#lent.delete(fitting)
    await lent.part.dispose?.()
  }

  #get(port: Port<unknown>): unknown {
    if (!this.#inner.isRegistered(port.key, true)) {
      if (port.many) return []
      throw new Error(`No plugin fits ${port.name}`)
    }
    if (this.#path.includes(port.name)) {
      throw new Error(`Circular need: ${[...this.#path, port.name].join(' > ')}`)
    }
    this.#path.push(port.name)
    try {
      return port.many ? this.#all(port) : this.#inner.resolve(port.key)
    } finally {
      this.#path.pop()
    }
  }
}
