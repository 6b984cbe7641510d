import type { ChildProcess } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'

const { PRIORITY_BELOW_NORMAL: below, PRIORITY_LOW: least } = constants.priority
const lower = (): number => Math.min(getPriority() + below, least)

/** A program that works on one file gets a core behind the processes that serve calls, where the cores are few. */
export const behindCalls = <Child extends ChildProcess>(child: Child): Child => {
  if (child.pid !== undefined) setPriority(child.pid, lower())
  return child
}

/** The same of this process. Its parent may come too late, where a shell starts one program in another. */
export const goBehindCalls = (): void => setPriority(lower())
