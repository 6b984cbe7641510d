import { BadRequest } from '../../../core/errors.ts'

/** The refusal of a conversation in which nothing stands. */
export const emptyConversation = (): BadRequest =>
  new BadRequest('The conversation is empty: the model needs a message')
