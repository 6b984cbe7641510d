import { listHead, readDemanded } from './demanded-list.ts'
import type { ReleaseKeys } from './policy.ts'
import type { Rules } from './rules.ts'
import { hexOf, list, object, oneOf, optional, whole } from './shape.ts'
import { type Product, type Tcb, highestTcb } from './snp-tcb.ts'

const format = 'sealgate-notices/1'
const level = whole(0, 255)
const components = { bootloader: level, tee: level, snp: level, microcode: level }

/** The one form of the file. An unknown member is refused, so that no demand is overlooked. */
const document = object({
  ...listHead(format),
  floors: optional(
    object({ Genoa: optional(object(components)), Turin: optional(object({ fmc: level, ...components })) }),
  ),
  minimumEvaluation: optional(whole(0, 65_535)),
  refusedProducts: optional(list(oneOf('Milan', 'Genoa', 'Turin'))),
  withdrawn: optional(list(hexOf(32))),
})

/** Facts learned after the client's release: higher floors, refused products, withdrawn releases. */
export type Notices = ReturnType<typeof document>

/** Reads the notices that the policy demands. Throws unless enough keys signed them and they are current. */
export const readNotices = (keys: ReleaseKeys, now: number): Promise<Notices> =>
  readDemanded({ name: 'notices', format, absent: ['collateral_missing', 'notices'], read: document }, keys, now)

/** Applies the notices to the rules. Notices only tighten rules, except for a product without a floor. */
export const tightenedRules = (
  rules: Rules,
  { floors, minimumEvaluation = 0, refusedProducts, withdrawn }: Notices,
): Rules => {
  const raised: Partial<Record<Product, Tcb>> = { ...rules.snp.floors }
  for (const product of ['Genoa', 'Turin'] as const) {
    const stated = floors?.[product]
    if (stated === undefined) continue
    const floor: Tcb = { fmc: 0, ...stated }
    const own = raised[product]
    raised[product] = own === undefined ? floor : highestTcb(own, floor)
  }
  return {
    ...rules,
    withdrawn: withdrawn ?? [],
    snp: {
      ...rules.snp,
      floors: raised,
      products: rules.snp.products.filter((product) => refusedProducts?.includes(product) !== true),
    },
    tdx: { ...rules.tdx, minimumEvaluation: Math.max(rules.tdx.minimumEvaluation, minimumEvaluation) },
  }
}
