import { use } from '../../core/plugin.ts'
import console from '../../plugins/surfaces/console.ts'
import gemini from '../../plugins/surfaces/gemini.ts'
import mcp from '../../plugins/surfaces/mcp.ts'
import v1 from '../../plugins/surfaces/v1.ts'

/** The doors beyond the interface's own chapters. */
export const surfaces = [use(v1), use(gemini), use(mcp), use(console)]
