import type { GenericSchema, InferOutput } from 'valibot'
import { toldParams } from '../../shared/tool-params.ts'
import { Refusal, checkParameters } from './refusals.ts'

/** Throws a Refusal that names the first parameter that is unknown or invalid. */
export const toolParams = <S extends GenericSchema>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
): InferOutput<S> => {
  const { told, odd } = toldParams(schema, given)
  if (odd !== null) throw new Refusal('invalid_parameters', odd)
  return checkParameters(schema, told)
}
