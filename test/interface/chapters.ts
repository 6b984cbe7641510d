import { catalogs } from './catalogs.ts'
import { chats } from './chat.ts'
import { credentials } from './credentials.ts'
import { decisions } from './decision.ts'
import { envelope } from './envelope.ts'
import { storedFiles } from './files.ts'
import { limits } from './limits.ts'
import { sealedAudio, sealedChats } from './sealed.ts'
import { toolCalls } from './tools.ts'
import type { Row } from './row.ts'

/** The chapters of the interface, each a list of statements. */
export const chapters: readonly Row[] = [
  ...envelope,
  ...decisions,
  ...catalogs,
  ...chats,
  ...sealedChats,
  ...sealedAudio,
  ...toolCalls,
  ...storedFiles,
  ...credentials,
  ...limits,
]
