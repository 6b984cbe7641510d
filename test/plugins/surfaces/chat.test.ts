import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Surface } from '../../../core/ports/surface.ts'
import chat from '../../../plugins/surfaces/chat.ts'
import { conform } from '../../contracts/contract.ts'
import { surface } from '../../contracts/surface.ts'
import { fitted } from '../../fitted.ts'

t.test('keeps the contract', (t) =>
  conform(t, surface.contract, () => ({
    surface: fitted(use(chat)).supply({ surfaces: Surface }).surfaces[0]!,
    open: [],
  })),
)
