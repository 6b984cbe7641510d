import type { Team } from './answers.ts'
import { type Child, el, div } from './element.ts'
import { budgets, limitFields, limitsOf } from './key-limits.ts'
import type { View } from './page.ts'
import { field, heading, link, note, section, form, sending, refusedIn } from './parts.ts'
import { teamHash } from './team-words.ts'

/** Makes a team in the store of the gateway. */
export const teamForm = ({ gateway, go }: View): readonly Child[] => {
  const told = el('div')
  const make = async (): Promise<void> => {
    const fields = new FormData(own)
    const name = String(fields.get('name') ?? '').trim()
    const made = gateway.ask<Team>('POST', '/admin/teams', { name, budgets: limitsOf(fields) })
    await made.then(() => go(teamHash(name)), refusedIn(told))
  }
  const own = form(
    make,
    field(
      'Name',
      'Letters, digits and . _ @ -; a team keeps its name.',
      el('input', { name: 'name', maxlength: 128, required: true, autocomplete: 'off', spellcheck: 'false' }),
    ),
    div('pair', limitFields({}, budgets)),
    told,
    sending('Make the team'),
  )
  return [
    heading('New team', link('All teams', '#/teams')),
    section('New team', own),
    note('The gateway stores the team. Teams of the configuration file stay in that file.'),
  ]
}
