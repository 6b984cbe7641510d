import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Surface } from '../../../core/ports/surface.ts'
import batches from '../../../plugins/surfaces/batches.ts'
import { conform } from '../../contracts/contract.ts'
import { surface } from '../../contracts/surface.ts'
import { fitted } from '../../fitted.ts'

t.test('keeps the contract', (t) =>
  conform(t, surface.contract, () => ({
    surface: fitted(use(batches)).supply({ surfaces: Surface }).surfaces[0]!,
    open: [],
  })),
)
