import type { Policy } from '../../../../sealed/client/verify.ts'
import { PolicyError, parsePolicy } from '../../../../sealed/evidence/policy.ts'
import { el, freshId, div } from '../element.ts'
import type { OwnMachine } from '../own-machine.ts'
import { button, section } from '../parts.ts'
import { labelled } from './doing.ts'

export interface PolicyPane {
  readonly node: HTMLElement
  /** Throws `PolicyError` for a text that is no policy. */
  policy(): Policy
}

/** What the reader demands of an enclave. */
export const policyPane = (own: OwnMachine | null, changed: () => void): PolicyPane => {
  const [id, devId] = [freshId('policy'), freshId('dev')]
  const text = el('textarea', {
    id,
    rows: 5,
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: '{ "measurements": ["…"] }',
    on: { change: changed },
  })
  text.value = own?.policy ?? ''
  const dev = el('input', { id: devId, type: 'checkbox', on: { change: changed } })
  dev.checked = own?.allowInsecureDev ?? false
  return {
    node: section(
      'What you demand',
      el('label', { class: 'check' }, dev, 'Also seal to a development enclave, which proves nothing'),
      el(
        'details',
        { open: own?.policy != null },
        el('summary', {}, 'Policy'),
        labelled('A policy file, as sealgate verify takes it', id, text),
      ),
      div('actions', button('Ask for the proof', changed)),
    ),
    policy: () => ({
      ...(text.value.trim() === '' ? {} : parsePolicy(text.value)),
      ...(dev.checked && { allowInsecureDev: true }),
    }),
  }
}

export const isPolicyError = (error: unknown): error is PolicyError => error instanceof PolicyError
