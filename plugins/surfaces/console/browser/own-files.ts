import type { FoundText, OpenedFile } from './answers.ts'
import { ask } from './dialog.ts'
import { type Child, el, freshId, div } from './element.ts'
import { count, percent, counted } from './format.ts'
import { Refused, pathOf } from './gateway.ts'
import { type View, every, reading, renew } from './page.ts'
import { button, note, section, sending, stack, toldPlace, form, refusedIn } from './parts.ts'
import { scrolled } from './table.ts'

interface Opened {
  readonly files: readonly OpenedFile[]
  readonly total: number
}

const path = '/own/files'
const fileAt = (id: string): string => `${path}/${encodeURIComponent(id)}`

const mostShown = 20_000

/** Ms between two readings: an index comes to its end by itself. */
const pace = 5_000

/** Nothing that a file holds runs here: text is text, and a picture is one of these. */
const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

const bytesAt = async ({ gateway, signal }: View, id: string): Promise<ArrayBuffer> => {
  const answer = await gateway.raw(fileAt(id), { signal })
  if (answer.ok) return answer.arrayBuffer()
  const { error } = (await answer.json().catch(() => ({}))) as { error?: string }
  throw new Refused(answer.status, error ?? 'The file could not be read')
}

const shown = (bytes: ArrayBuffer, mime: string, name: string): HTMLElement => {
  if (pictures.includes(mime)) {
    const picture = el('img', { alt: name, class: 'picture' })
    picture.src = URL.createObjectURL(new Blob([bytes], { type: mime }))
    picture.addEventListener('load', () => URL.revokeObjectURL(picture.src), { once: true })
    return picture
  }
  const text = new TextDecoder().decode(bytes.slice(0, mostShown))
  return /[\u0000-\u0008]/.test(text)
    ? note(`${count(bytes.byteLength)} bytes that are no text.`)
    : el('pre', { tabindex: 0, role: 'region', 'aria-label': name }, text)
}

const saved = (bytes: ArrayBuffer, name: string): void => {
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  el('a', { href: address, download: name }).click()
  URL.revokeObjectURL(address)
}

interface Place {
  readonly view: View
  readonly region: HTMLElement
  readonly told: HTMLElement
  again(): Promise<void>
}

const tried = ({ told }: Place, work: Promise<void>): Promise<void> => work.catch(refusedIn(told))

const acts = (place: Place, { id, name, mime }: OpenedFile): Child => {
  if (name === null) return null
  const { view, region, again } = place
  const open = async (): Promise<void> => {
    const bytes = await bytesAt(view, id)
    region.replaceChildren(
      section(
        name,
        shown(bytes, mime ?? '', name),
        div(
          'actions',
          button('Save', () => saved(bytes, name)),
          button('Close', () => region.replaceChildren(), 'quiet'),
        ),
      ),
    )
  }
  const index = async (): Promise<void> => {
    await view.gateway.ask('POST', `${fileAt(id)}/index`)
    await again()
  }
  const remove = (): void =>
    ask({
      title: `Remove ${name}?`,
      words: el('p', {}, 'Its bytes, its record and its index go.'),
      yes: 'Remove',
      async act() {
        await view.gateway.ask('DELETE', fileAt(id))
        await again()
      },
    })
  return el(
    'span',
    { class: 'actions' },
    button('Open', () => tried(place, open()), 'quiet'),
    button('Index', () => tried(place, index()), 'quiet'),
    button('Remove', remove, 'quiet'),
  )
}

const rowOf = (place: Place, file: OpenedFile): HTMLElement =>
  el(
    'tr',
    {},
    el('th', { scope: 'row' }, file.name ?? el('i', {}, 'not under this key')),
    el('td', {}, file.mime ?? '–'),
    el('td', { class: 'number' }, count(file.file_size)),
    el('td', {}, file.created_at.slice(0, 16)),
    el('td', {}, file.rag_status),
    el('td', {}, acts(place, file)),
  )

const heads = ['Name', 'Kind', 'Bytes', 'Stored, UTC', 'Index', 'Do']

const fileTable = (place: Place, { files, total }: Opened): HTMLElement =>
  section(
    `As you see them: ${counted(total, 'file')}`,
    scrolled(
      'Your files',
      heads.map((head) => el('th', { scope: 'col' }, head)),
      files.map((file) => rowOf(place, file)),
    ),
  )

const uploading = (place: Place): HTMLElement => {
  const { view, again } = place
  const id = freshId('upload')
  const input = el('input', { id, type: 'file', required: true })
  const indexed = el('input', { type: 'checkbox' })
  const bar = el('progress', { max: 1, value: 0, hidden: true, 'aria-label': 'Sealed and sent' })
  const state = toldPlace()
  const send = async (file: File): Promise<void> => {
    bar.hidden = false
    const address = pathOf(path, { name: file.name, index: indexed.checked ? 'true' : null })
    for await (const { event, data } of view.gateway.sent(address, file)) {
      const { sent = 0, size = 1, error } = JSON.parse(data) as { sent?: number; size?: number; error?: string }
      if (event === 'error') throw new Refused(400, error ?? 'The file could not be stored')
      bar.value = event === 'stored' ? 1 : sent / Math.max(size, 1)
      state.textContent = event === 'stored' ? `${file.name} is stored.` : `${percent(bar.value)} sealed and sent`
    }
    input.value = ''
    await again()
  }
  const begin = async (): Promise<void> => {
    const file = input.files?.item(0)
    if (file) await tried(place, send(file))
    bar.hidden = true
  }
  return section(
    'Store a file',
    form(
      begin,
      div('field', el('label', { for: id }, 'File of this machine'), input),
      el('label', { class: 'check' }, indexed, 'Index it inside the enclave, so that its text is found'),
      sending('Seal and store', bar, state),
    ),
  )
}

const hits = (found: readonly FoundText[]): HTMLElement =>
  found.length === 0
    ? note('Nothing is found. Files have to be indexed first.')
    : el(
        'ol',
        { class: 'steps' },
        found.map(({ name, fileId, page, snippet }) =>
          el('li', {}, el('b', {}, name ?? fileId), page === null ? null : ` page ${page}`, el('p', {}, snippet)),
        ),
      )

const searching = (place: Place): HTMLElement => {
  const { view } = place
  const results = el('div', { 'aria-live': 'polite' })
  const id = freshId('search')
  const input = el('input', { id, type: 'search', required: true, autocomplete: 'off' })
  const search = async (): Promise<void> =>
    results.replaceChildren(
      hits(await view.gateway.ask<readonly FoundText[]>('POST', '/own/search', { query: input.value })),
    )
  return section(
    'Search what files say',
    form(
      () => tried(place, search()),
      div('field', el('label', { for: id }, 'Words'), input),
      div('actions', el('button', { type: 'submit' }, 'Search')),
    ),
    results,
  )
}

/** The files with their names, on the page that the reader's own machine serves. The machine keeps the keys. */
export const ownFiles = async (view: View, changed: () => Promise<void>): Promise<HTMLElement> => {
  const listed = stack()
  const [region, told, state] = [stack(), stack(), toldPlace()]
  const draw = async (): Promise<void> => {
    const opened = await view.gateway.ask<Opened>('GET', path)
    const { files, total } = opened
    const rest = total > files.length ? [note(`The newest ${count(files.length)} files are shown.`)] : []
    renew(listed, fileTable(place, opened), ...rest)
  }
  const read = async (): Promise<void> => void (await Promise.all([draw(), changed()]))
  const place: Place = {
    view,
    region,
    told,
    async again() {
      told.replaceChildren()
      // The button that was pressed has the focus, and its row may be gone.
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
      await read()
    },
  }
  await draw()
  every(pace, view.signal, reading(view, state, read))
  return stack(uploading(place), searching(place), told, state, listed, region)
}
