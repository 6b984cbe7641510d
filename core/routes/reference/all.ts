import type { Chapter, Reference } from '../../http/reference.ts'
import type { Tool } from '../../ports/tool.ts'
import { admin } from './admin.ts'
import { chat } from './chat.ts'
import { decision } from './decision.ts'
import { files, retrieval } from './files.ts'
import { front } from './front.ts'
import { media } from './media.ts'
import { operating } from './operating.ts'
import { rvenc } from './sealed.ts'
import { codes, shared } from './shared.ts'
import { toolsOf } from './tools.ts'

/** The words of the whole interface, with the tools and the surfaces that a gateway has. */
export const referenceOf = (tools: readonly Tool[], surfaces: readonly Chapter[]): Reference => ({
  words: shared,
  codes,
  chapters: [decision, chat, media, ...surfaces, rvenc, toolsOf(tools), files, retrieval, admin, operating, front],
})
