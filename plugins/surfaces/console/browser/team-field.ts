import type { Team } from './answers.ts'
import { type Attributes, el, freshId } from './element.ts'
import { type Gateway, wholeList } from './gateway.ts'
import { field } from './parts.ts'

/** An input that offers the open teams once the reader goes to it. */
const teamInput = (gateway: Gateway, attributes: Attributes): readonly [HTMLInputElement, HTMLElement] => {
  const list = el('datalist', { id: freshId('teams') })
  const input = el('input', { ...attributes, list: list.id, autocomplete: 'off', spellcheck: 'false' })
  const offer = async (): Promise<void> => {
    const { rows } = await wholeList<Team>(gateway, '/admin/teams', 'teams')
    list.replaceChildren(
      ...rows.filter(({ closed_at }) => closed_at === null).map(({ name }) => el('option', { value: name })),
    )
  }
  // A reader who may list no teams writes the name.
  input.addEventListener('focus', () => void offer().catch(() => null), { once: true })
  return [input, list]
}

/** The input alone, for the choice of a list. */
export const teamChoice = (gateway: Gateway, attributes: Attributes): HTMLElement =>
  el('span', {}, teamInput(gateway, attributes))

/** The team of a key under its label. */
export const teamField = (gateway: Gateway, team: string | null, none = 'none'): HTMLElement => {
  const [input, list] = teamInput(gateway, { name: 'team', value: team ?? '' })
  const labelled = field('Team', `The team pays for the calls of the key; empty for ${none}.`, input)
  labelled.append(list)
  return labelled
}
