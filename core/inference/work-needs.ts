import { Inference } from './inference.ts'
import { Catalog } from './models/catalog.ts'

/** The needs of tools for which models work. */
export const workNeeds = { catalog: Catalog, inference: Inference }
