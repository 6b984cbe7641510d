import t from 'tap'
import { type AnyPlugin, use } from '../../../core/plugin.ts'
import { Surface } from '../../../core/ports/surface.ts'
import { conform } from '../../contracts/contract.ts'
import { surface } from '../../contracts/surface.ts'
import { fitted } from '../../fitted.ts'

/** The surface keeps its contract; the routes that are named need no key. */
export const keepsContract = (made: AnyPlugin, open: readonly string[] = []): void => {
  void t.test('keeps the contract', (t) =>
    conform(t, surface.contract, () => ({
      surface: fitted(use(made)).supply({ surfaces: Surface }).surfaces[0]!,
      open,
    })),
  )
}
