import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Surface } from '../../../core/ports/surface.ts'
import console from '../../../plugins/surfaces/console.ts'
import { conform } from '../../contracts/contract.ts'
import { surface } from '../../contracts/surface.ts'
import { fitted } from '../../fitted.ts'

t.test('keeps the contract', (t) =>
  conform(t, surface.contract, () => ({
    surface: fitted(use(console)).supply({ surfaces: Surface }).surfaces[0]!,
    open: [
      'GET /console',
      'GET /console/{release}/{file}',
      'GET /console/{release}/pages/{file}',
      'GET /console/{release}/sealed/{file}',
      'GET /console/logins',
      'POST /console/logins/{issuer}',
      'POST /console/session',
      'POST /console/session/renewal',
    ],
  })),
)
