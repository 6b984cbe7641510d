import type { Act } from '../answers.ts'
import { auditRows } from '../audit-table.ts'
import { count, counted } from '../format.ts'
import { curlOf, pathOf, wholeList } from '../gateway.ts'
import { listView } from '../list-view.ts'
import type { Page } from '../page.ts'
import { heading, note } from '../parts.ts'

export const audit: Page = {
  name: 'audit',
  title: 'Audit',
  sees: ({ administers }) => administers,
  async show(view) {
    const { gateway } = view
    const { rows, total } = await wholeList<Act>(gateway, '/admin/audit', 'acts')
    const curl = curlOf(gateway.base, pathOf('/admin/audit', { limit: 100 }))
    return [
      heading('Audit'),
      ...listView<Act>({
        view,
        path: '#/audit',
        table: auditRows(counted(total, 'act'), rows, curl),
        words: ({ action, outcome, actor, user, object }) => [action, outcome, actor, user, object].join(' '),
        filters: [
          { name: 'act', label: 'Act', of: ({ action }) => action },
          { name: 'outcome', label: 'Outcome', of: ({ outcome }) => outcome },
          { name: 'user', label: 'User', of: ({ user }) => user ?? '' },
        ],
      }),
      total > rows.length && note(`The newest ${count(rows.length)} acts are shown.`),
    ]
  },
}
