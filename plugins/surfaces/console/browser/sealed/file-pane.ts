import type { Client } from '../../../../sealed/client/client.ts'
import type { SealedFile } from '../../../../sealed/client/file-shapes.ts'
import { el, freshId, div } from '../element.ts'
import { count } from '../format.ts'
import { button, facts, form, note, section, sending, stack } from '../parts.ts'
import { hexHead } from './attestations.ts'
import { RefusedHere, type Witness, doing, labelled } from './doing.ts'
import { holdsKek } from './playground-client.ts'

const mostBytes = 2_000_000
const mostShown = 2_000

const sample = (): File => new File(['A heron stands in the reeds.\n'], 'heron.txt', { type: 'text/plain' })

/** The file of the reader, or a sample. Throws for what no page may be given. */
const chosenFile = async (files: FileList | null): Promise<File> => {
  const file = files?.item(0) ?? sample()
  if (file.size > mostBytes) throw new RefusedHere('A file of the playground has at most 2 MB')
  if (holdsKek(await file.slice(0, 65_536).text()))
    throw new RefusedHere('This file holds a key of yours: a page takes none, and nothing was sent')
  return file
}

const textOf = (bytes: Uint8Array): string => {
  const text = new TextDecoder().decode(bytes.subarray(0, mostShown))
  return /[\u0000-\u0008\ufffd]/.test(text) ? `${count(bytes.length)} bytes that are no text` : text
}

const bothViews = (file: SealedFile): HTMLElement =>
  facts([
    ['Name, to you', file.name],
    ['To the gateway', el('code', {}, hexHead(file.original_name))],
    ['Kind, to you', file.mime],
    ['To the gateway', el('code', {}, hexHead(file.mime_type))],
    ['Stored', `${count(file.file_size)} bytes`],
    ['Key id', el('code', {}, file.kid)],
    ['Id', el('code', {}, file.id), 'wide'],
  ])

export interface Filing {
  readonly client: () => Client
  readonly witness: Witness
  readonly signal: AbortSignal
  /** Told of the file that stands at the gateway; null when it is gone. */
  kept(id: string | null): void
}

/** Stores a file under a key of this tab, and reads it back. The file goes when the reader leaves. */
export const filePane = ({ client, witness, signal, kept }: Filing): HTMLElement => {
  const id = freshId('file')
  const input = el('input', { id, type: 'file' })
  const { told, run } = doing(signal)
  const place = stack()
  let stored: { readonly id: string; readonly by: Client } | null = null
  const forget = async (): Promise<void> => {
    const file = stored
    stored = null
    kept(null)
    place.replaceChildren()
    if (file !== null) await file.by.files.remove(file.id)
  }
  // The gateway removes an incognito file by itself, if this tab cannot.
  signal.addEventListener('abort', () => void forget().catch(() => undefined), { once: true })
  const store = async (): Promise<void> => {
    const file = await chosenFile(input.files)
    await forget()
    witness.begins(`${file.name}\n${textOf(new Uint8Array(await file.arrayBuffer()))}`)
    const by = client()
    const record = await by.files.upload(file, { incognito: true, signal })
    stored = { id: record.id, by }
    kept(record.id)
    const back = await by.files.download(record.id, { signal })
    const bytes = await back.bytes()
    witness.ends(`${back.name}\n${textOf(bytes)}`)
    const remove = button('Remove it', () => run(forget), 'quiet')
    place.replaceChildren(bothViews(record), div('actions', remove))
  }
  return section(
    'File',
    form(
      () => run(store),
      labelled('A file of at most 2 MB; without one, a sample', id, input),
      told,
      sending('Store sealed'),
    ),
    place,
    note('Its key is made in this tab and ends with it. Your own files take ', el('code', {}, 'sealgate console'), '.'),
  )
}
