import type { AnyRoute } from '../http/route.ts'
import type { Settings } from '../settings.ts'
import { admin } from './admin.ts'
import { auditing } from './audit.ts'
import { chat } from './chat.ts'
import { consoleRoutes } from './console.ts'
import { decisions } from './decision.ts'
import { fileRoutes } from './files.ts'
import { front } from './front.ts'
import { health } from './health.ts'
import { media } from './media.ts'
import { mcp } from './mcp/table.ts'
import { models } from './models.ts'
import { receiptRoutes } from './receipts.ts'
import { retrieval } from './retrieval.ts'
import { rvenc } from './sealed-inference.ts'
import { tools } from './tools.ts'
import { usage } from './usage.ts'
import { v1 } from './v1/table.ts'

type Surface = Settings['surfaces'][number]

/** The whole surface on one screen. */
const chapters: Readonly<Record<Surface, readonly AnyRoute[]>> = {
  v1,
  decision: decisions,
  chat: [...chat, ...models, ...media],
  rvenc: [...rvenc, ...receiptRoutes],
  tools,
  files: fileRoutes,
  index: retrieval,
  admin: [...admin, ...usage, ...auditing],
  console: consoleRoutes,
  mcp,
}

/** Whoever seals for a tool or an index at this address finds the keys for it here. */
const sealedTo = (surfaces: readonly Surface[]): readonly AnyRoute[] =>
  !surfaces.includes('rvenc') && surfaces.some((it) => it === 'tools' || it === 'index')
    ? rvenc.filter(({ method }) => method === 'GET')
    : []

export const table = (surfaces: readonly Surface[]): readonly AnyRoute[] => [
  front,
  ...health,
  ...sealedTo(surfaces),
  // The last route of a path serves it: where `names.std` is `v1` too, the standard routes stay what they were.
  ...surfaces.toSorted((one, other) => Number(other === 'v1') - Number(one === 'v1')).flatMap((it) => chapters[it]),
]
