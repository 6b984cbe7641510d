import { use } from '../../core/plugin.ts'
import admin from '../../plugins/surfaces/admin.ts'
import batches from '../../plugins/surfaces/batches.ts'
import chat from '../../plugins/surfaces/chat.ts'
import console from '../../plugins/surfaces/console.ts'
import decision from '../../plugins/surfaces/decision.ts'
import ehbp from '../../plugins/surfaces/ehbp.ts'
import files from '../../plugins/surfaces/files.ts'
import gemini from '../../plugins/surfaces/gemini.ts'
import index from '../../plugins/surfaces/index.ts'
import mcp from '../../plugins/surfaces/mcp.ts'
import rvenc from '../../plugins/surfaces/rvenc.ts'
import tools from '../../plugins/surfaces/tools.ts'
import v1 from '../../plugins/surfaces/v1.ts'

/** All doors of this package, in the order of the reference. */
export const surfaces = [
  ...[use(decision), use(chat), use(rvenc), use(tools), use(files), use(index), use(admin)],
  ...[use(v1), use(gemini), use(batches), use(mcp), use(ehbp), use(console)],
]
