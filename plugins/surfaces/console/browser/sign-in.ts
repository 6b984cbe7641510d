import { el } from './element.ts'
import type { Gateway } from './gateway.ts'
import { type Offer, departureTo, offersOf } from './login.ts'
import { button, note, refusal, stack, warning, form, refusedIn } from './parts.ts'
import { isOwnToken } from './own-machine.ts'
import { type Pass, isKey } from './session.ts'

const noKey = new Error('no key')

/** What is wrong with a text that can't be a key. */
const shapeWords = (text: string): string =>
  text.startsWith('sk_')
    ? 'This key is not complete: sk_live_ or sk_test_ stands before 40 to 48 letters and digits.'
    : 'A key begins with sk_live_ or sk_test_.'

export interface SignIn {
  /** Where clients find the gateway. */
  readonly base: string
  /** The gateway, asked without a key. */
  readonly gateway: Gateway
  readonly why: Error | null
  /** Tries what failed again; null where that helps nothing. */
  readonly again: (() => Promise<void>) | null
  /** Throws what the gateway says against the credential. */
  open(pass: Pass): Promise<void>
}

/** The buttons for logins that come back to this page, and a word on those that come back to another one. */
const ways = (
  offers: readonly Offer[],
  own: string,
  keep: HTMLElement,
  begin: (offer: Offer) => void,
): readonly HTMLElement[] => {
  const here = offers.filter(({ redirect }) => redirect === own)
  const elsewhere = [...new Set(offers.filter((offer) => !here.includes(offer)).map(({ redirect }) => redirect))]
  return [
    ...here.map((offer) => button(`Sign in with ${offer.name}`, () => begin(offer))),
    ...(here.length === 0 ? [] : [el('label', { class: 'check' }, keep, 'Keep a login until this tab closes')]),
    ...elsewhere.map((redirect) => note('A login is at ', el('code', {}, redirect), '.')),
  ]
}

/** Asks for a key, or offers a login where the gateway has one. */
export const signIn = ({ base, gateway, why, again, open }: SignIn): HTMLElement => {
  const told = el('div', {}, why && refusal(why), again && button('Try again', again))
  const logins = stack()
  const input = el('input', {
    ...{ id: 'key', name: 'key', type: 'password', required: true, autocomplete: 'off', spellcheck: 'false' },
    ...{ placeholder: 'sk_live_…', 'aria-describedby': 'key-hint' },
  })
  const keep = el('input', { id: 'keep', type: 'checkbox' })
  const begin = async (): Promise<void> => {
    const credential = input.value.trim()
    try {
      if (!isKey(credential) && !isOwnToken(credential)) throw noKey
      await open({ credential, until: null })
    } catch (error) {
      told.replaceChildren(error === noKey ? warning(shapeWords(credential)) : refusal(error))
    }
  }
  const depart = (offer: Offer): void =>
    void departureTo(offer, keep.checked, location.hash, sessionStorage).then(
      (address) => location.assign(address),
      refusedIn(told),
    )
  // A key signs in without them.
  void offersOf(gateway).then(
    (offers) => logins.replaceChildren(...ways(offers, `${base}/console`, keep, depart)),
    () => logins.replaceChildren(),
  )
  return el(
    'main',
    { class: 'sign-in', id: 'main' },
    el('p', { class: 'brand' }, 'sealgate'),
    el('h1', { tabindex: -1 }, 'Sign in'),
    logins,
    form(
      begin,
      el('label', { for: 'key' }, 'Key of this gateway'),
      input,
      el('small', { id: 'key-hint' }, 'It opens a session of this gateway, and is kept nowhere.'),
      told,
      el('button', { type: 'submit', class: 'main' }, 'Sign in'),
    ),
    el('p', { class: 'note' }, el('code', {}, 'sealgate keys create'), ' makes a key.'),
  )
}
