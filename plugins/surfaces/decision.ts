import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { decisionRoutes } from './decision/decision.ts'
import { decisionSettings } from '../shared/decisions/settings.ts'

const chapter = async () => (await import('./decision/chapter.ts')).decision

/** Typed questions about a state, answered with probabilities. */
export default plugin({
  port: Surface,
  name: 'decision',
  sections: [decisionSettings],
  create: (): Surface => ({
    name: 'decision',
    routes: [...decisionRoutes],
    chapter,
  }),
})
