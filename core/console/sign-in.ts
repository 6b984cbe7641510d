import { el } from './element.ts'
import { refusal } from './parts.ts'
import { isKey } from './session.ts'

const noKey = new Error('no key')

/** Asks for a key. `open` throws what the gateway says against it. */
export const signIn = (why: Error | null, open: (key: string, keep: boolean) => Promise<void>): HTMLElement => {
  const told = el('div', {}, why && refusal(why))
  const input = el('input', {
    ...{ id: 'key', name: 'key', type: 'password', required: true, autocomplete: 'off', spellcheck: 'false' },
    ...{ placeholder: 'sk_live_…', 'aria-describedby': 'key-hint' },
  })
  const keep = el('input', { id: 'keep', type: 'checkbox' })
  const submit = el('button', { type: 'submit', class: 'main' }, 'Sign in')
  const begin = async (): Promise<void> => {
    const key = input.value.trim()
    submit.disabled = true
    try {
      if (!isKey(key)) throw noKey
      await open(key, keep.checked)
    } catch (error) {
      told.replaceChildren(
        error === noKey
          ? el('p', { class: 'refusal', role: 'alert' }, 'A key begins with sk_live_ or sk_test_.')
          : refusal(error),
      )
      submit.disabled = false
    }
  }
  const submitted = (event: Event): void => {
    event.preventDefault()
    void begin()
  }
  return el(
    'main',
    { class: 'sign-in', id: 'main' },
    el('p', { class: 'brand' }, 'sealgate'),
    el('h1', { tabindex: -1 }, 'Sign in'),
    el(
      'form',
      { on: { submit: submitted } },
      el('label', { for: 'key' }, 'Key of this gateway'),
      input,
      el('small', { id: 'key-hint' }, 'It stays in the memory of this tab, and goes to this gateway alone.'),
      el('label', { class: 'check' }, keep, 'Keep it until this tab closes'),
      told,
      submit,
    ),
    el('p', { class: 'note' }, el('code', {}, 'sealgate keys create'), ' makes a key.'),
  )
}
