import { isFields } from '../fields.ts'
import type { GenerateRequest } from './shape.ts'
import { camel } from './spelling.ts'

/** Whether the caller wants to be told the thoughts. */
export const thinksAloud = (request: GenerateRequest): boolean => {
  const { generationConfig } = camel(request)
  const { thinkingConfig } = isFields(generationConfig) ? camel(generationConfig) : {}
  return isFields(thinkingConfig) && camel(thinkingConfig)['includeThoughts'] === true
}
