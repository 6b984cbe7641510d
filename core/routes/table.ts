import type { AnyRoute } from '../http/route.ts'
import type { Settings } from '../settings.ts'
import { admin } from './admin.ts'
import { health } from './health.ts'
import { tools } from './tools.ts'

type Surface = Settings['surfaces'][number]

/** The whole surface on one screen. */
const chapters: Readonly<Record<Surface, readonly AnyRoute[]>> = {
  decision: [],
  chat: [],
  rvenc: [],
  tools,
  files: [],
  index: [],
  admin,
}

export const table = (surfaces: readonly Surface[]): readonly AnyRoute[] => [
  ...health,
  ...surfaces.flatMap((surface) => chapters[surface]),
]
