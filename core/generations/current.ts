import { type Container, one } from '../container.ts'

/** The generation with which a request begins now, for parts that outlive reloads. */
export interface CurrentGeneration {
  readonly supply: Container['supply']
}

export const CurrentGeneration = one<CurrentGeneration>('CurrentGeneration')
