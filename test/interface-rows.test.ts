import './fakes/unwatched.ts'
import t from 'tap'
import { catalogs } from './interface/catalogs.ts'
import { chats } from './interface/chat.ts'
import { credentials } from './interface/credentials.ts'
import { decisions } from './interface/decision.ts'
import { envelope } from './interface/envelope.ts'
import { storedFiles } from './interface/files.ts'
import { limits } from './interface/limits.ts'
import type { Row } from './interface/row.ts'
import { sceneOf } from './interface/scene.ts'
import { sealedAudio, sealedChats } from './interface/sealed.ts'
import { toolCalls } from './interface/tools.ts'

const rows: readonly Row[] = [
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

t.test('each statement of the interface, by a client that knows nothing else', { timeout: 170_000 }, async (t) => {
  const scene = await sceneOf(t)
  const only = process.env['ROW'] ?? ''
  for (const [statement, holds] of rows.filter(([name]) => name.includes(only)))
    await t.test(statement, (t) => holds(t, scene))
})
