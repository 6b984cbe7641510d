import { refuseMember } from '../members.ts'
import type { Drop } from './translated-request.ts'
import type { ModelSettings } from '../../../core/settings.ts'

/** The operator's choice for tools that a vendor runs. Without a choice the gateway refuses forced tools and drops others. */
export type ServerTools = ModelSettings['serverTools']

/** A tool that a request offers. */
interface Offered {
  /** The header of left-out members has it. */
  readonly name: string
  readonly path: string
  /** The request lets the model do nothing without it. */
  readonly forced: boolean
}

/** Leaves the tool out and tells it. Throws BadRequest where an answer without it would not be what was asked. */
export const leaveOut = (choice: ServerTools, { name, path, forced }: Offered, drop: Drop): void => {
  if (choice === 'refuse' || (forced && choice !== 'drop'))
    refuseMember(path, 'Expected a tool of your own: this model has no tools that a vendor runs', 'server_tool_refused')
  drop(`tools.${name}`)
}
