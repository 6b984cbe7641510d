import { addressOf } from './address.ts'
import { append, el } from './element.ts'
import { Refused, baseOf, gatewayAt } from './gateway.ts'
import { liveFeed } from './live-feed.ts'
import { type OwnMachine, isOwnPage, ownMachineOf, takenToken } from './own-machine.ts'
import type { Page, View } from './page.ts'
import { pages } from './pages.ts'
import { button, heading, note, refusal } from './parts.ts'
import { sessionOf } from './session.ts'
import { type Shell, shellOf } from './shell.ts'
import { signIn } from './sign-in.ts'
import { type Sight, sightOf } from './sight.ts'

const session = sessionOf(sessionStorage)
const base = baseOf(location)
const never = new AbortController().signal

let here = new AbortController()
let sight: Sight | null = null
let own: OwnMachine | null = null
let shell: Shell | null = null

const leave = (why: Error | null): void => {
  here.abort()
  session.close()
  liveFeed.forget()
  sight = null
  shell = null
  document.title = 'Sign in · sealgate'
  document.body.replaceChildren(signIn(why, open))
  document.getElementById('key')?.focus()
}

const open = async (key: string, keep: boolean): Promise<void> => {
  const gateway = gatewayAt(base, key, never)
  own = isOwnPage(document) ? await ownMachineOf(gateway) : null
  sight = await sightOf(gateway)
  session.open(key, keep)
  const seen = pages.filter(({ sees }) => sight !== null && sees(sight))
  shell = shellOf(seen, key.slice(-4), () => leave(null))
  document.body.replaceChildren(...shell.root)
  await turn()
}

const shown = async (page: Page, view: View, main: HTMLElement): Promise<void> => {
  const content = await page.show(view).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 401) throw error
    return [heading(page.title), refusal(error), button('Try again', () => void turn())]
  })
  if (view.signal.aborted) return
  main.replaceChildren()
  append(main, [content])
  main.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** Shows the page that the address names, if the key may see it. */
const turn = async (): Promise<void> => {
  const key = session.key()
  if (key === null || sight === null || shell === null) return leave(null)
  here.abort()
  here = new AbortController()
  const { signal } = here
  const { page: name, path, query } = addressOf(location.hash)
  const page = pages.find((it) => it.name === name)
  shell.at(name)
  document.title = `${page?.title ?? 'Not here'} · sealgate`
  if (page === undefined || !page.sees(sight)) {
    shell.main.replaceChildren(heading('Not here'), note('This key sees no such page.'))
    return
  }
  shell.main.setAttribute('aria-busy', 'true')
  const go = (hash: string): void => void (location.hash = hash)
  const view = { gateway: gatewayAt(base, key, signal, own?.gateway), sight, own, path, query, signal, go, leave }
  await shown(page, view, shell.main).catch((error: unknown) => {
    if (!signal.aborted) leave(error instanceof Error ? error : null)
  })
  if (!signal.aborted) shell?.main.removeAttribute('aria-busy')
}

const begin = async (): Promise<void> => {
  const key = takenToken(location, history) ?? session.key()
  if (key === null) return leave(null)
  document.body.replaceChildren(el('main', { class: 'sign-in' }, el('p', { role: 'status' }, 'Signing in')))
  await open(key, true).catch((error: unknown) => leave(error instanceof Error ? error : null))
}

addEventListener('hashchange', () => void turn())
void begin()
