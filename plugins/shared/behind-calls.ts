import type { ChildProcess } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'

/** A program that works on one file gets a core behind the processes that serve calls, where the cores are few. */
export const behindCalls = <Child extends ChildProcess>(child: Child): Child => {
  const { PRIORITY_BELOW_NORMAL: below, PRIORITY_LOW: least } = constants.priority
  if (child.pid !== undefined) setPriority(child.pid, Math.min(getPriority() + below, least))
  return child
}
