import type { Product, Tcb } from './snp-tcb.ts'

/** A lowest patch level, with its reason. */
export interface Floor {
  readonly tcb: Tcb
  /** The day on which this value was entered. */
  readonly since: string
  /** The bulletin that demands this floor, or another source of it. */
  readonly bulletin: string
}

/** The day of the last review of all floors. */
export const floorsOf = '2026-11-01'

/** In ms: a result warns when the last review of the floors is older. */
export const floorsLifeMs = 120 * 86_400_000

/** The lowest accepted patch level of each product. A product without a floor is refused until a policy states one. */
export const snpFloors: Readonly<Partial<Record<Product, Floor>>> = {
  Genoa: {
    tcb: { fmc: 0, bootloader: 10, tee: 0, snp: 23, microcode: 84 },
    since: '2026-11-01',
    bulletin: 'none read yet: what two unrelated fleets report in 2026',
  },
}

/** The lowest accepted evaluation number of Intel's data. */
export const tdxFloor = {
  evaluation: 17,
  since: '2026-11-01',
  bulletin: 'TCB recovery of 2024-03-13',
}
