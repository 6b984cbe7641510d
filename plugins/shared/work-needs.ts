import { Inference } from '../../core/inference/inference.ts'
import { Catalog } from '../../core/inference/models/catalog.ts'

/** The needs of tools for which models work. */
export const workNeeds = { catalog: Catalog, inference: Inference }
