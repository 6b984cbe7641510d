import type { ChatBody, Native } from '../../../core/ports/upstream.ts'

/** A request of any dialect, in the common chat format. */
export interface TranslatedRequest {
  readonly body: ChatBody
  /** The request itself, for a backend that speaks its dialect. */
  readonly native?: Native
  /** Whom the caller answers, where the dialect names the user apart. */
  readonly user?: string | undefined
  /** Members for which the backend's dialect has no place, by path without indexes. */
  readonly dropped: readonly string[]
}

/** Paths in one header. */
const mostPaths = 32

/** Collects the paths of members that a translator leaves out. */
export const droppedMembers = () => {
  const paths: string[] = []
  return {
    drop: (path: string): void => {
      const plain = paths.length < mostPaths ? path.replace(/[^\w.-]/g, '_').slice(0, 64) : 'others'
      if (!paths.includes(plain)) paths.push(plain)
    },
    paths: (): readonly string[] => paths,
  }
}

/** The members that a backend of the same dialect gets. All others are dropped; those that the gateway takes for itself bear no path. */
export const passedMembers = (request: object, passed: ReadonlySet<string>, taken: ReadonlySet<string> = new Set()) => {
  const { drop, paths } = droppedMembers()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request)) {
    if (passed.has(name)) body[name] = value
    else if (value != null && !taken.has(name)) drop(name)
  }
  return { body, drop, paths }
}

/** Notes the path of a member that is left out, once. Beyond 32 paths `others` stands for the rest. */
export type Drop = ReturnType<typeof droppedMembers>['drop']
