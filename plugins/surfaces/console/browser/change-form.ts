import { type Child, append, el, div } from './element.ts'
import { Refused } from './gateway.ts'
import { button, refusal, stack, form, sending, folded } from './parts.ts'

interface Versioned {
  readonly version: number
}

/** How a thing of the gateway's store is changed. */
export interface Changing<T extends Versioned, C> {
  readonly now: T
  /** Its kind, such as `key`. */
  readonly what: string
  inputs(now: T): readonly Child[]
  changeOf(form: HTMLFormElement, now: T): C
  /** The change that takes a change back. */
  earlier(now: T): C
  /** Throws Refused with 409 where the thing has another version. */
  send(change: C & Versioned, before: T): Promise<T>
  draw(now: T): void
  /** Reads the page again. */
  again(): void
}

/** A box is a field of its own. */
const slotOf = ({ type, name, value }: HTMLInputElement): string => (type === 'checkbox' ? `${name} ${value}` : name)

const writtenIn = (form: HTMLFormElement): ReadonlyMap<string, string | boolean> =>
  new Map(
    [...form.querySelectorAll('input')].map((input) => [
      slotOf(input),
      input.type === 'checkbox' ? input.checked : input.value,
    ]),
  )

const writeInto = (form: HTMLFormElement, written: ReadonlyMap<string, string | boolean>): void => {
  for (const input of form.querySelectorAll('input')) {
    const value = written.get(slotOf(input))
    if (typeof value === 'boolean') input.checked = value
    else if (value !== undefined) input.value = value
  }
}

/** A form that changes a thing. One click takes the change back, and what another operator changed is not written over. */
export const changeForm = <T extends Versioned, C>(changing: Changing<T, C>): HTMLElement => {
  const { what } = changing
  const told = el('div')
  let current = changing.now
  /** The form as it was last sent. */
  let sent: ReadonlyMap<string, string | boolean> = new Map()
  const refused = (error: unknown): readonly Child[] => [
    refusal(error),
    error instanceof Refused &&
      error.status === 409 && [
        el('p', {}, `Another operator changed this ${what}. Your change is not written. `),
        div(
          'actions',
          button('Read the new state', () => changing.again()),
        ),
      ],
  ]
  const send = async (change: C, words: string, undo: C | null): Promise<void> => {
    try {
      current = await changing.send({ ...change, version: current.version }, current)
      changing.draw(current)
      if (undo === null) refill()
      told.replaceChildren(
        el(
          'p',
          { class: 'fine', role: 'status' },
          words,
          undo !== null && [' ', button('Undo', () => send(undo, 'The change is undone.', null), 'quiet')],
        ),
      )
    } catch (error) {
      told.replaceChildren(stack(refused(error)))
    }
  }
  const words = `The ${what} is changed. Every process takes the change within five seconds.`
  const save = (): Promise<void> => {
    sent = writtenIn(own)
    return send(changing.changeOf(own, current), words, changing.earlier(current))
  }
  const own = form(save)
  const fill = (): void => {
    own.replaceChildren()
    append(own, [changing.inputs(current), sending('Save')])
  }
  /** What the reader wrote since the form was sent stays. */
  const refill = (): void => {
    const newer = [...writtenIn(own)].filter(([field, text]) => text !== sent.get(field))
    fill()
    writeInto(own, new Map(newer))
  }
  fill()
  return el('section', { class: 'card' }, told, folded(`Change this ${what}`, own))
}
