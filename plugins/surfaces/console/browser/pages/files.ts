import type { Storage, StoredFile } from '../answers.ts'
import { type Child, el } from '../element.ts'
import { count, percent, counted } from '../format.ts'
import { curlOf, pathOf, wholeList } from '../gateway.ts'
import { listView } from '../list-view.ts'
import { ownFiles } from '../own-files.ts'
import { type Page, type View, renew } from '../page.ts'
import { badge, heading, note, stack, tile, tiles } from '../parts.ts'
import { type Table, figure } from '../table.ts'

const path = '/files/encrypted'

const states: Readonly<Record<string, string>> = {
  completed: 'good',
  failed: 'bad',
  running: 'mixed',
  pending: 'mixed',
}

const indexState = ({ rag_status }: StoredFile): Child => badge(states[rag_status] ?? 'idle', rag_status)

const share = (used: number, most: number | null): string =>
  most === null ? 'no quota' : `${percent(used / most)} of ${count(most)}`

const amounts = ({ stored, quota }: Storage): HTMLElement =>
  tiles(
    tile('Stored by the organisation', count(stored.bytes), `sealed bytes, ${share(stored.bytes, quota.bytes)}`),
    tile('Files of the organisation', count(stored.files), share(stored.files, quota.files)),
  )

const asTheGateway = (rows: readonly StoredFile[], total: number, curl: string): Table<StoredFile> => ({
  title: `As the gateway sees them: ${counted(total, 'file')}`,
  file: 'files',
  rows,
  curl,
  empty: 'The user of this key stores no file.',
  columns: [
    { head: 'Id', value: ({ id }) => id, show: ({ id }) => el('code', {}, id) },
    figure('Bytes', ({ file_size }) => file_size, count),
    { head: 'Stored, UTC', value: ({ created_at }) => created_at.slice(0, 16) },
    { head: 'Changed, UTC', value: ({ updated_at }) => updated_at?.slice(0, 16) ?? null },
    { head: 'Key id', value: ({ kid }) => kid, show: ({ kid }) => el('code', {}, kid) },
    { head: 'Kind', value: ({ type_hint }) => type_hint },
    { head: 'Bound', value: ({ binding }) => (binding === null ? 'no' : 'yes') },
    { head: 'Index', value: ({ rag_status }) => rag_status, show: indexState },
  ],
})

const lockedWords = note(
  'Names, content and search take the key of the owner, and a page of the gateway is given none. ',
  el('code', {}, 'sealgate console --gateway URL'),
  ' serves this page from your own machine, which has the key.',
)

const keylessWords = note(
  'Names, content and search take your file of keys. ',
  el('code', {}, 'sealgate kek new'),
  ' makes one, and ',
  el('code', {}, 'sealgate console --gateway URL --keys FILE'),
  ' opens your files with it.',
)

const list = async (view: View): Promise<readonly Child[]> => {
  const { gateway } = view
  const [{ rows, total }, storage] = await Promise.all([
    wholeList<StoredFile>(gateway, path, 'files', {}, 5),
    gateway.ask<Storage>('GET', '/files/storage'),
  ])
  return [
    amounts(storage),
    ...listView<StoredFile>({
      view,
      path: '#/files',
      table: asTheGateway(rows, total, curlOf(gateway.base, pathOf(path, { limit: 100 }))),
      words: ({ id, kid, type_hint, rag_status }) => [id, kid, type_hint, rag_status].join(' '),
      filters: [
        { name: 'kind', label: 'Kind', of: ({ type_hint }) => type_hint },
        { name: 'index', label: 'Index', of: ({ rag_status }) => rag_status },
      ],
    }),
    total > rows.length && note(`The newest ${count(rows.length)} files are shown.`),
  ]
}

export const files: Page = {
  name: 'files',
  title: 'Files',
  sees: ({ keepsFiles }) => keepsFiles,
  async show(view) {
    const { own } = view
    const region = stack()
    const draw = async (): Promise<void> =>
      void renew(region, ...(await list(view)).filter((child) => child instanceof Node))
    await draw()
    const locked = own === null ? lockedWords : own.kid === null ? keylessWords : null
    return [heading('Files'), locked ?? (await ownFiles(view, draw)), region]
  },
}
