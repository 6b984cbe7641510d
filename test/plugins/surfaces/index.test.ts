import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Surface } from '../../../core/ports/surface.ts'
import index from '../../../plugins/surfaces/index.ts'
import { conform } from '../../contracts/contract.ts'
import { surface } from '../../contracts/surface.ts'
import { fitted } from '../../fitted.ts'

t.test('keeps the contract', (t) =>
  conform(t, surface.contract, () => ({
    surface: fitted(use(index)).supply({ surfaces: Surface }).surfaces[0]!,
    open: [],
  })),
)
