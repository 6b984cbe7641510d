import { plugin } from '../../../core/plugin.ts'
import { ChatFilter } from '../../../core/ports/chat-filter.ts'
import { Guard } from '../../../core/ports/guard.ts'
import { passageOf } from '../../shared/guards/passage.ts'

/** The guards of the configuration as a filter of chats in the clear. */
export const chatGuards = plugin({
  port: ChatFilter,
  name: 'guards',
  renewed: true,
  needs: { guards: Guard },
  create: ({ guards }): ChatFilter => ({ begin: (call) => passageOf(guards, call) }),
})
