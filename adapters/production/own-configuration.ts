import { lazy, plugin } from '../../core/plugin.ts'
import { Configuration } from '../../plugins/surfaces/admin/configuration.ts'
import type { ConfigurationSource } from './config/compared-file.ts'

const comparing = lazy(() => import('./config/compared-file.ts'))

/** The configuration of the process, which each reload replaces. What shows it is loaded with the first look at it. */
export const ownConfiguration = (source: ConfigurationSource) =>
  plugin({
    port: Configuration,
    name: 'own-configuration',
    create: (): Configuration => ({
      inEffect: async () => (await comparing()).shownInEffect(source),
      compare: async () => (await comparing()).comparedFile(source),
      check: async () => (await comparing()).checkedFile(source),
      try: async (parts) => (await comparing()).triedFile(source, parts),
    }),
  })
