import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Surface } from '../../../core/ports/surface.ts'
import mcp from '../../../plugins/surfaces/mcp.ts'
import { conform } from '../../contracts/contract.ts'
import { surface } from '../../contracts/surface.ts'
import { fitted } from '../../fitted.ts'

t.test('keeps the contract', (t) =>
  conform(t, surface.contract, () => ({
    surface: fitted(use(mcp)).supply({ surfaces: Surface }).surfaces[0]!,
    open: ['GET /mcp', 'DELETE /mcp', 'GET /.well-known/oauth-protected-resource/mcp'],
  })),
)
