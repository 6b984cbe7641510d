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

/** Notes the path of a member that is left out, once. Beyond 32 paths `others` stands for the rest. */
export type Drop = ReturnType<typeof droppedMembers>['drop']
