import type { Act } from '../answers.ts'
import { auditTable } from '../audit-table.ts'
import { ask } from '../dialog.ts'
import { el } from '../element.ts'
import { zone } from '../format.ts'
import { curlOf, pathOf } from '../gateway.ts'
import { wholeList } from '../listing.ts'
import type { Page, View } from '../page.ts'
import { button, copied, facts, heading, note, section } from '../parts.ts'

interface Described {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, object>>
}

const reload = (view: View): HTMLElement => {
  const told = el('p', { class: 'told', role: 'status' })
  const reloaded = async (): Promise<void> => {
    await view.gateway.ask('POST', '/admin/reload')
    told.textContent = 'The configuration was read again and is in effect.'
  }
  const begin = () =>
    ask({
      title: 'Reload the configuration?',
      words: el('p', {}, 'All of it is checked first. If something in it is wrong, nothing changes.'),
      yes: 'Reload',
      act: reloaded,
    })
  return section(
    'Configuration',
    el('p', {}, 'The gateway reads its configuration file again, for all requests that begin afterwards.'),
    el('div', { class: 'actions' }, button('Reload', begin), told),
    copied(curlOf(view.gateway.base, '/admin/reload', 'POST'), 'Reload as curl'),
  )
}

export const settings: Page = {
  name: 'settings',
  title: 'Settings',
  sees: () => true,
  async show(view) {
    const { gateway, sight } = view
    const [described, acts] = await Promise.all([
      gateway.read<Described>('/openapi.json'),
      sight.administers ? wholeList<Act>(gateway, '/admin/audit', 'acts', {}, 2) : Promise.resolve(null),
    ])
    return [
      heading('Settings'),
      section(
        'This gateway',
        facts([
          ['Address', el('code', {}, gateway.base)],
          ['Interface', `${described.info.version}, ${Object.keys(described.paths).length} paths`],
          ...Object.entries(sight.links).map(([name, path]) => [name, el('code', {}, path)] as const),
          ['Times', zone()],
        ]),
      ),
      sight.measures && reload(view),
      acts && auditTable('Audit, newest 200', acts.rows, curlOf(gateway.base, pathOf('/admin/audit', { limit: 100 }))),
      note('The configuration itself is in its file: no route of the gateway tells it.'),
    ]
  },
}
