import { type ConfigurationChange, changesTable } from './configuration.ts'
import { el } from './element.ts'
import { count } from './format.ts'
import { curlOf } from './gateway.ts'
import type { View } from './page.ts'
import { refusal, stack, warning } from './parts.ts'

/** Parts of a configuration that stand in no file yet, as the lines have them. */
export type Lines = Readonly<Record<string, unknown>>

interface Tried {
  readonly faults: readonly string[]
  readonly changes: readonly ConfigurationChange[] | null
  readonly call: {
    readonly model: string
    readonly status: number
    readonly ms: number
    readonly fault: string | null
  } | null
}

const path = '/admin/configuration/try'

const callWords = ({ call }: Tried): HTMLElement | null => {
  if (call === null) return null
  const { model, status, ms, fault } = call
  return fault === null
    ? el('p', { class: 'fine' }, `The test call of ${model} was answered in ${count(ms)} ms.`)
    : warning(`The test call of ${model} ended with ${status}: ${fault}.`)
}

/**
 * What `sealgate check` finds in the file with these lines, the difference to what runs, and how a call of the model ends.
 * The command beside the table has no secret.
 */
export const tried = async (
  { gateway }: Pick<View, 'gateway'>,
  lines: Lines,
  call: string | null,
  secrets: Readonly<Record<string, string>> = {},
): Promise<HTMLElement> => {
  try {
    const shown = { ...lines, ...(call !== null && { call }) }
    const answer = await gateway.ask<Tried>('POST', path, { ...shown, secrets })
    if (answer.changes === null) return el('div', {}, answer.faults.map(warning))
    const words = el('p', { class: 'fine', role: 'status' }, 'The file with these lines has no faults.')
    const called = callWords(answer)
    const table = changesTable(answer.changes, curlOf(gateway.base, path, 'POST', shown), 'What these lines change')
    return called === null ? stack(words, table) : stack(words, called, table)
  } catch (error) {
    return refusal(error)
  }
}
