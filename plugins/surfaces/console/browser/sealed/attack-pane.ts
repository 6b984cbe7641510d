import { el, div } from '../element.ts'
import { badge, button, note, section } from '../parts.ts'
import { type Outcome, type Target, attacks, played } from './attacks.ts'

const ends: Readonly<Record<Outcome['end'], readonly [kind: string, words: string]>> = {
  answered: ['good', 'answered'],
  refused: ['good', 'refused'],
  taken: ['bad', 'TAKEN'],
  untried: ['idle', 'not tried'],
}

const by = { enclave: 'by the enclave', client: 'by the client in this tab' } as const

const line = (outcome: Outcome): HTMLElement => {
  const [kind, words] = ends[outcome.end]
  return el(
    'li',
    { 'data-end': outcome.end },
    el('b', {}, outcome.name),
    el('span', {}, badge(kind, outcome.by === null ? words : `${words} ${by[outcome.by]}`)),
    el('small', {}, `${outcome.words}.`),
  )
}

/** Buttons that cheat. `target` is null while no model can be asked. */
export const attackPane = (target: () => Target | null, signal: AbortSignal): HTMLElement => {
  const outcomes = el('ul', { class: 'outcomes', 'aria-live': 'polite' })
  const told = el('p', { class: 'told', role: 'status' })
  const buttons = attacks.map((attack) =>
    button(attack.title, () => {
      const aim = target()
      if (aim === null) return void (told.textContent = 'Choose a model that is served sealed.')
      void play(attack, aim)
    }),
  )
  const play = async (attack: (typeof attacks)[number], aim: Target): Promise<void> => {
    for (const control of buttons) control.disabled = true
    outcomes.replaceChildren()
    told.textContent = `${attack.title}: trying`
    for await (const outcome of played(attack, aim)) {
      if (signal.aborted) return
      outcomes.append(line(outcome))
    }
    told.textContent = `${attack.title}: done`
    for (const control of buttons) control.disabled = false
  }
  return section(
    'Try to cheat',
    el('p', {}, 'Each button does what an attacker between this tab and the enclave could do, with real requests.'),
    div('actions', buttons),
    told,
    outcomes,
    note('An attack sends a few short requests to the chosen model.'),
  )
}
