import { keyDetail } from '../key-detail.ts'
import { keyForm } from '../key-form.ts'
import { keyList } from '../key-list.ts'
import type { Page } from '../page.ts'

export const keys: Page = {
  name: 'keys',
  title: 'Keys',
  sees: ({ administers }) => administers,
  async show(view) {
    const [id] = view.path
    if (id === undefined) return keyList(view)
    return id === 'new' ? keyForm(view) : keyDetail(view, id)
  },
}
