import type { AnyRoute } from '../http/route.ts'
import type { ChapterName } from '../settings.ts'
import { mediaRoutes } from '../calls/media.ts'
import { adminRoutes } from './admin.ts'
import { auditRoutes } from './audit.ts'
import { backendRoutes } from './backends.ts'
import { chainRoutes } from './chains.ts'
import { chatRoutes } from './chat.ts'
import { configurationRoutes } from './configuration.ts'
import { decisionRoutes } from './decision.ts'
import type { Door } from './doors.ts'
import { drillRoutes } from './drill.ts'
import { fileRoutes } from './files.ts'
import { frontOf } from './front.ts'
import { healthRoutes } from './health.ts'
import { liveRoutes } from './live.ts'
import { modelRoutes } from './models.ts'
import { receiptRoutes } from './receipts.ts'
import { retrievalRoutes } from './retrieval.ts'
import { sealedRoutes } from './sealed-inference.ts'
import { selfRoutes } from './self.ts'
import { type Served, isChapter } from './served.ts'
import { toolRoutes } from './tools.ts'
import { usageRoutes } from './usage.ts'

const operating: readonly AnyRoute[] = [
  ...selfRoutes,
  ...liveRoutes,
  ...chainRoutes,
  ...backendRoutes,
  ...drillRoutes,
  ...configurationRoutes,
]

/** The interface on one screen; surfaces are plugins. */
const chapters: Readonly<Record<ChapterName, readonly AnyRoute[]>> = {
  decision: decisionRoutes,
  chat: [...chatRoutes, ...modelRoutes, ...mediaRoutes],
  rvenc: [...sealedRoutes, ...receiptRoutes],
  tools: toolRoutes,
  files: fileRoutes,
  index: retrievalRoutes,
  admin: [...adminRoutes, ...usageRoutes, ...auditRoutes, ...operating],
}

/** Clients that seal for a tool or an index at this address find the keys here. */
const sealedTo = (names: readonly string[]): readonly AnyRoute[] =>
  !names.includes('rvenc') && names.some((it) => it === 'tools' || it === 'index')
    ? sealedRoutes.filter(({ method }) => method === 'GET')
    : []

/** Each chapter and each surface with its routes. The last route of a path serves it. */
export const doorsOf = (served: Served): readonly Door[] => {
  const { names, surfaces } = served
  return [
    { name: 'front', routes: [...frontOf(served), ...healthRoutes, ...sealedTo(names)] },
    ...names.map((name) => ({
      name,
      routes: isChapter(name) ? chapters[name] : (surfaces.get(name)?.routes ?? []),
    })),
  ]
}

/** The routes of all doors in their order. Tests ask for all of them at once. */
export const allRoutes = (served: Served): readonly AnyRoute[] => doorsOf(served).flatMap(({ routes }) => routes)
