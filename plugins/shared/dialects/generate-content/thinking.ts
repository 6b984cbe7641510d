import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import type { GenerateRequest } from './shape.ts'
import { camel } from './spelling.ts'

/** True when the caller wants the thoughts. */
export const thinksAloud = (request: GenerateRequest): boolean => {
  const { generationConfig } = camel(request)
  const { thinkingConfig } = isJsonObject(generationConfig) ? camel(generationConfig) : {}
  return isJsonObject(thinkingConfig) && camel(thinkingConfig)['includeThoughts'] === true
}
