import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { consoleRoutes } from './console/routes.ts'
import { signInRoutes } from './console/sign-in.ts'
import { consoleSettings } from './console/settings.ts'

/** TypeScript leaves the ending of an `import()` inside `export default` as it is, so this one stands outside. */
const chapter = async () => (await import('./console/chapter.ts')).chapter

/** The console: one page for browsers, with the scripts in `console/browser`, and the ways to sign in to it. */
export default plugin({
  port: Surface,
  name: 'console',
  sections: [consoleSettings],
  create: (): Surface => ({
    name: 'console',
    routes: [...consoleRoutes, ...signInRoutes],
    chapter,
    closed: ['/console'],
    links: () => ({ console: '/console' }),
  }),
})
