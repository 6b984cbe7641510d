import type { AnyRoute } from '../http/route.ts'
import type { Settings } from '../settings.ts'
import { adminRoutes } from './admin.ts'
import { auditRoutes } from './audit.ts'
import { backendRoutes } from './backends.ts'
import { chainRoutes } from './chains.ts'
import { chatRoutes } from './chat.ts'
import { consoleRoutes } from './console.ts'
import { decisionRoutes } from './decision.ts'
import { fileRoutes } from './files.ts'
import { front } from './front.ts'
import { healthRoutes } from './health.ts'
import { liveRoutes } from './live.ts'
import { mediaRoutes } from './media.ts'
import { mcpRoutes } from './mcp/all.ts'
import { modelRoutes } from './models.ts'
import { receiptRoutes } from './receipts.ts'
import { retrievalRoutes } from './retrieval.ts'
import { sealedRoutes } from './sealed-inference.ts'
import { selfRoutes } from './self.ts'
import { signInRoutes } from './sign-in.ts'
import { toolRoutes } from './tools.ts'
import { usageRoutes } from './usage.ts'
import { v1Routes } from './v1/all.ts'

type Surface = Settings['surfaces'][number]

const operating: readonly AnyRoute[] = [...selfRoutes, ...liveRoutes, ...chainRoutes, ...backendRoutes]

/** The whole surface on one screen. */
const chapters: Readonly<Record<Surface, readonly AnyRoute[]>> = {
  v1: v1Routes,
  decision: decisionRoutes,
  chat: [...chatRoutes, ...modelRoutes, ...mediaRoutes],
  rvenc: [...sealedRoutes, ...receiptRoutes],
  tools: toolRoutes,
  files: fileRoutes,
  index: retrievalRoutes,
  admin: [...adminRoutes, ...usageRoutes, ...auditRoutes, ...operating],
  console: [...consoleRoutes, ...signInRoutes],
  mcp: mcpRoutes,
}

/** Clients that seal for a tool or an index at this address find the keys here. */
const sealedTo = (surfaces: readonly Surface[]): readonly AnyRoute[] =>
  !surfaces.includes('rvenc') && surfaces.some((it) => it === 'tools' || it === 'index')
    ? sealedRoutes.filter(({ method }) => method === 'GET')
    : []

export const allRoutes = (surfaces: readonly Surface[]): readonly AnyRoute[] => [
  front,
  ...healthRoutes,
  ...sealedTo(surfaces),
  // The last route of a path serves it: where `names.std` is `v1Routes` too, the standard routes stay what they were.
  ...surfaces.toSorted((one, other) => Number(other === 'v1') - Number(one === 'v1')).flatMap((it) => chapters[it]),
]
