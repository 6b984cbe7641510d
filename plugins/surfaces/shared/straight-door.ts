import type { Supplied } from '../../../core/container.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { Reply } from '../../../core/http/reply.ts'
import type { Request, StraightCall, StraightEntry } from '../../../core/http/route.ts'
import type { chatNeeds } from './chat-needs.ts'
import { lazy } from '../../../core/plugin.ts'
import type { Door } from './straight/door.ts'

const ways = lazy(() => import('./straight/chat-call.ts'))
const talks = lazy(() => import('./talk.ts'))

type Given = Supplied<typeof chatNeeds>

/** Both ways of a route that answers chats. The first chat loads the code, and goes the long way. */
export const straightDoor = <Input, Own>(open: () => Promise<Door<Input, Own>>) => {
  type G = Given & Own
  let straight: ((entry: StraightEntry, given: G) => StraightCall | null) | null = null
  const opened = lazy(async () => {
    const [door, { chatCallNow }] = await Promise.all([open(), ways()])
    straight = (entry, given) => chatCallNow(entry, given, door)
    return door
  })
  return {
    straight: (entry: StraightEntry, given: G): StraightCall | null => straight?.(entry, given) ?? null,
    async answer(request: Request<Input, unknown, Caller>, given: G): Promise<Reply> {
      const [door, { answeredTalk }] = [await opened(), await talks()]
      return answeredTalk(door.talk(request, given), given, request.signal)
    },
  }
}
