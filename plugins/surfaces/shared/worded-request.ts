import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import type { ChatTask } from '../../../core/inference/task.ts'
import type { ChatBody } from '../../../core/ports/upstream.ts'
import { refuseUnseen } from '../../shared/models/find-model.ts'
import type { DialectChat } from './dialect-chat.ts'
import { type Wordings, droppedIn, firstWording } from './wordings.ts'
import { affinityOf } from './session.ts'

/** A chat as its backends get it. */
export interface WordedRequest {
  readonly body: ChatBody
  /** Whom the caller answers, where its dialect names the user apart. */
  readonly user?: string | undefined
  readonly organization: string
  readonly provider: string | null
  /** Calls with the same affinity prefer the same backend. */
  readonly affinity: string | null
  readonly fit: NonNullable<ChatTask['fit']>
  /** Headers that name what a backend would not get. */
  readonly dropped: Readonly<Record<string, string>>
}

/** Throws BadRequest for a request that no backend gets. */
export const wordedRequest = (
  organization: string,
  entry: Entry,
  { provider, session }: Pick<DialectChat, 'provider' | 'session'>,
  fit: Wordings,
): WordedRequest => {
  const { body, user } = firstWording(entry, fit)
  refuseUnseen(entry, body)
  const affinity = affinityOf(entry, organization, body, session)
  return { body, user, organization, provider, affinity, fit, dropped: droppedIn(entry, fit) }
}

/** The chat as the search asks it, but for what the caller tells of itself. */
export const searchedTask = (
  entry: Entry,
  { body, provider, organization, affinity, fit }: WordedRequest,
): Omit<ChatTask, 'stream'> => ({ entry, body, provider, organization, affinity, fit })
