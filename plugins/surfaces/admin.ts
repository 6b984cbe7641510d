import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { adminRoutes } from './admin/admin.ts'
import { auditRoutes } from './admin/audit.ts'
import { backendRoutes } from './admin/backends-routes.ts'
import { chainRoutes } from './admin/chains.ts'
import { configurationRoutes } from './admin/configuration-routes.ts'
import { drillRoutes } from './admin/drill-routes.ts'
import { liveRoutes } from './admin/live.ts'
import { selfRoutes } from './admin/self.ts'
import { teamRoutes } from './admin/teams-routes.ts'
import { usageRoutes } from './admin/usage.ts'

const chapter = async () => {
  const [{ admin }, { operating }] = await Promise.all([
    import('./admin/chapter.ts'),
    import('./admin/operating-chapter.ts'),
  ])
  return [admin, operating]
}

/** Keys, usage, backends and everything else that operators ask and change. */
export default plugin({
  port: Surface,
  name: 'admin',
  create: (): Surface => ({
    name: 'admin',
    routes: [
      ...adminRoutes,
      ...teamRoutes,
      ...usageRoutes,
      ...auditRoutes,
      ...selfRoutes,
      ...liveRoutes,
      ...chainRoutes,
      ...backendRoutes,
      ...drillRoutes,
      ...configurationRoutes,
    ],
    chapter,
    closed: ['/admin'],
  }),
})
