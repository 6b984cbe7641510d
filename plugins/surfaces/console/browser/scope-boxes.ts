import { el, div } from './element.ts'

/** A box for each scope that a key may have; a key gives nothing that it does not have. */
export const scopeBoxes = (scopes: readonly string[], held: readonly string[] = []): HTMLElement =>
  div(
    'pair',
    scopes.map((scope) =>
      el(
        'label',
        { class: 'check' },
        el('input', { type: 'checkbox', name: 'scope', value: scope, checked: held.includes(scope) }),
        scope,
      ),
    ),
  )
