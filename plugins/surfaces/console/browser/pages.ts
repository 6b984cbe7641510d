import type { Page } from './page.ts'
import { audit } from './pages/audit.ts'
import { decisions } from './pages/decisions.ts'
import { drill } from './pages/drill.ts'
import { files } from './pages/files.ts'
import { home } from './pages/home.ts'
import { keys } from './pages/keys.ts'
import { live } from './pages/live.ts'
import { models } from './pages/models.ts'
import { sealed } from './pages/sealed.ts'
import { settings } from './pages/settings.ts'
import { teams } from './pages/teams.ts'
import { usage } from './pages/usage.ts'

/** All pages in the order of the navigation. */
export const pages: readonly Page[] = [
  home,
  live,
  keys,
  teams,
  usage,
  models,
  decisions,
  sealed,
  files,
  drill,
  audit,
  settings,
]
