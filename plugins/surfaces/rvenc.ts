import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { receiptRoutes } from './rvenc/receipts.ts'
import { sealedRoutes } from './rvenc/sealed-inference.ts'

const chapter = async () => (await import('./rvenc/chapter.ts')).rvenc

/** Sealed inference, and the receipts of it. */
export default plugin({
  port: Surface,
  name: 'rvenc',
  create: (): Surface => ({
    name: 'rvenc',
    routes: [...sealedRoutes, ...receiptRoutes],
    chapter,
  }),
})
