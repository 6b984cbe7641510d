import type { MadeKey } from './key-acts.ts'
import { el, div } from './element.ts'
import type { View } from './page.ts'
import { copied, link, note, section } from './parts.ts'
import { modelsOf } from './sight.ts'
import { snippetsOf } from './snippets.ts'

/** The credential of a new key, with snippets for clients. The page forgets the credential when the reader leaves. */
export const secretOf = async ({ gateway, sight }: View, made: MadeKey): Promise<HTMLElement> => {
  const listed = await modelsOf(gateway, sight).catch(() => [])
  const model = made.models?.[0] ?? listed.find(({ clear }) => clear)?.model ?? 'MODEL'
  const snippets = snippetsOf(gateway.base, sight.links, made.key, model)
  const node = section(
    'The new key',
    el('p', { role: 'status' }, el('b', {}, 'This is the only time that the key is shown. '), 'Put it away now.'),
    div('secret', copied(made.key, 'The key')),
    snippets.map(({ name, text }, at) =>
      el('details', { open: at === 0 }, el('summary', {}, name), copied(text, `${name}, as a snippet`)),
    ),
    note(link('See the key', `#/keys/${encodeURIComponent(made.id)}`), ', without the credential.'),
  )
  node.classList.add('fresh')
  return node
}
