import { changesTable, settingsTable, type EffectiveConfiguration, foundSettings } from '../configuration.ts'
import { ask } from '../dialog.ts'
import { type Child, append, el, div } from '../element.ts'
import { count, moment, zone, counted, span } from '../format.ts'
import { Refused, curlOf, pathOf, unlessRefused, type Gateway } from '../gateway.ts'
import { linesForm } from '../lines-form.ts'
import type { Page, View } from '../page.ts'
import { button, facts, heading, link, note, refusal, section, stack, toldPlace, badge } from '../parts.ts'
import { table } from '../table.ts'

const path = '/admin/configuration'

interface Described {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, object>>
}

/** Null for who is no operator, and for a gateway whose settings come from code. */
const read = async ({ gateway, sight }: View): Promise<EffectiveConfiguration | null> =>
  sight.operates ? unlessRefused(gateway.ask<EffectiveConfiguration>('GET', path), 400) : null

const faultList = (faults: readonly string[]): HTMLElement =>
  el(
    'div',
    { class: 'refusal', role: 'alert' },
    el(
      'ul',
      {},
      faults.map((fault) => el('li', {}, fault)),
    ),
  )

/** What operators do; a file is checked where there is one. */
const steering = (
  { gateway }: View,
  hasFile: boolean,
  again: (faults?: readonly string[]) => Promise<void>,
): readonly HTMLElement[] => {
  const told = toldPlace()
  const place = stack()
  const tell = (words: string, ...content: readonly HTMLElement[]): void => {
    told.textContent = words
    place.replaceChildren(...content)
  }
  const check = async (): Promise<void> => {
    tell('Checking')
    const { faults } = await gateway.ask<{ readonly faults: readonly string[] }>('POST', `${path}/check`)
    tell(faults.length === 0 ? 'No faults' : counted(faults.length, 'fault'))
    await again(faults)
  }
  const reload = async (): Promise<void> => {
    await gateway.ask('POST', '/admin/reload')
    tell('The configuration was read again and is in effect.')
    await again()
  }
  const question = () =>
    ask({
      title: 'Reload the configuration?',
      words: el('p', {}, 'All of it is checked first. If something in it is wrong, nothing changes.'),
      yes: 'Reload',
      act: reload,
    })
  const checked = () => check().catch((error: unknown) => tell('', refusal(error)))
  return [div('actions', hasFile && button('Check', checked), button('Reload', question), told), place]
}

const fileOf = (effective: EffectiveConfiguration, faults: readonly string[]): readonly Child[] => [
  facts([
    ['File', effective.file === null ? 'none: environment variables' : el('code', {}, effective.file)],
    ['Read', moment(effective.read_at)],
  ]),
  faults.length > 0 && faultList(faults),
]

/** A file with a fault is not compared. */
const differences = ({ gateway }: View, effective: EffectiveConfiguration): readonly Child[] => [
  effective.changes && changesTable(effective.changes, curlOf(gateway.base, path)),
  effective.changes_left_out > 0 && note(`${count(effective.changes_left_out)} further differences are not shown.`),
]

/** What the reader looks for. */
interface Wanted {
  find: string
  defaults: boolean
}

const inEffect = ({ gateway }: View, effective: EffectiveConfiguration, wanted: Wanted): readonly Child[] => {
  const region = stack()
  const search = el('input', {
    type: 'search',
    class: 'search',
    'aria-label': 'Search settings',
    placeholder: 'Setting or value',
    value: wanted.find,
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const defaults = el('input', { type: 'checkbox', checked: wanted.defaults })
  const draw = (): void =>
    region.replaceChildren(
      settingsTable(foundSettings(effective.settings, wanted.find, wanted.defaults), curlOf(gateway.base, path)),
    )
  const changed = (): void => {
    Object.assign(wanted, { find: search.value, defaults: defaults.checked })
    const address = pathOf('#/settings', { find: wanted.find, defaults: wanted.defaults ? 1 : null })
    history.replaceState(history.state, '', address)
    draw()
  }
  search.addEventListener('input', changed)
  defaults.addEventListener('change', changed)
  draw()
  return [
    el('h2', {}, 'Configuration in effect'),
    div('span', search, el('label', { class: 'check' }, defaults, 'Defaults too')),
    region,
    effective.settings_left_out > 0 && note(`${count(effective.settings_left_out)} further settings are not shown.`),
  ]
}

const absent = ({ sight }: View): HTMLElement =>
  note(
    sight.operates
      ? 'The settings of this gateway come from code, so there is no file to compare them with.'
      : 'The configuration is shown to operators.',
  )

/** The configuration with what operators do with it. */
const configured = (view: View, first: EffectiveConfiguration | null): readonly Child[] => {
  const [file, settings] = [stack(), stack()]
  const wanted = { find: view.query.get('find') ?? '', defaults: view.query.has('defaults') }
  const draw = (effective: EffectiveConfiguration, faults = effective.faults): void => {
    file.replaceChildren()
    settings.replaceChildren()
    append(file, fileOf(effective, faults))
    append(settings, [differences(view, effective), inEffect(view, effective, wanted)])
  }
  const again = async (faults?: readonly string[]): Promise<void> => {
    const effective = await read(view)
    if (effective !== null && !view.signal.aborted) draw(effective, faults)
  }
  if (first === null) file.append(absent(view))
  else draw(first)
  return [section('Configuration', view.sight.steers && steering(view, first !== null, again), file), settings]
}

const enclaves = async ({ gateway, sight }: View, effective: EffectiveConfiguration | null): Promise<Child> => {
  if (sight.links['confidential'] === undefined) return null
  const connected =
    effective?.settings.filter(({ path: [section, key] }) => section === 'enclave' && key === 'connect') ?? []
  return enclaveTable(await enclavesOf(gateway, connected.length), curlOf(gateway.base, '/rvenc/keys'))
}

const leaving = (view: View): HTMLElement =>
  button('Sign out everywhere', () =>
    ask({
      title: 'Sign out everywhere?',
      words: 'Every session of this key ends, in this browser and in others. The key itself stays.',
      yes: 'Sign out everywhere',
      async act() {
        await view.gateway.ask('DELETE', '/console/session?everywhere=true')
        view.leave(new Refused(401, 'Every session of the key is over'))
      },
    }),
  )

export const settings: Page = {
  name: 'settings',
  title: 'Settings',
  sees: () => true,
  async show(view) {
    const { gateway, sight } = view
    if (view.path[0] === 'lines' && sight.steers) return linesForm(view)
    const [described, effective] = await Promise.all([gateway.read<Described>('/openapi.json'), read(view)])
    return [
      heading('Settings', sight.steers && link('New lines', '#/settings/lines'), view.own === null && leaving(view)),
      section(
        'This gateway',
        facts([
          ['Address', el('code', {}, gateway.base)],
          ['Interface', `${described.info.version}, ${Object.keys(described.paths).length} paths`],
          ...Object.entries(sight.links).map(([name, path]) => [name, el('code', {}, path)] as const),
          ['Times', zone()],
        ]),
      ),
      configured(view, effective),
      await enclaves(view, effective),
    ]
  },
}

/** What `GET /rvenc/keys` answers. */
interface Keyset {
  readonly keys: readonly { readonly not_after: number }[]
  readonly evidence: { readonly type: string }
}

interface Enclave {
  readonly name: string
  /** Why the enclave gives no keys; null where it gives some. */
  readonly refused: string | null
  readonly evidence: string | null
  /** When the last of its keys ends, as Unix time in ms. */
  readonly until: number | null
}

/** The largest number of enclaves that the console asks. */
const mostEnclaves = 16

const askEnclave = async (gateway: Gateway, name: string | null): Promise<Enclave> => {
  const named = name ?? 'enclave'
  try {
    const { keys, evidence } = await gateway.read<Keyset>(pathOf('/rvenc/keys', { enclave: name }))
    const until = Math.max(...keys.map(({ not_after }) => not_after))
    return { name: named, refused: null, evidence: evidence.type, until }
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) throw error
    return { name: named, refused: error.message, evidence: null, until: null }
  }
}

/** The enclaves of a gateway. `connected` is the number that it connects to; 0 stands for the enclave that it has started. */
const enclavesOf = (gateway: Gateway, connected: number): Promise<readonly Enclave[]> =>
  Promise.all(
    connected === 0
      ? [askEnclave(gateway, null)]
      : Array.from({ length: Math.min(connected, mostEnclaves) }, (_, at) => askEnclave(gateway, `e${at}`)),
  )

const enclaveTable = (rows: readonly Enclave[], curl: string): HTMLElement =>
  table<Enclave>({
    title: 'Enclaves',
    file: 'enclaves',
    rows,
    curl,
    empty: '',
    columns: [
      { head: 'Enclave', value: ({ name }) => name },
      {
        head: 'State',
        value: ({ refused }) => refused ?? 'answers',
        show: ({ refused }) => badge(refused === null ? 'good' : 'bad', refused ?? 'answers'),
      },
      {
        head: 'Evidence',
        value: ({ evidence }) => evidence,
        show: ({ evidence }) => (evidence === 'dev' ? badge('mixed', 'dev, which proves nothing') : (evidence ?? '–')),
      },
      {
        head: 'Keys until',
        value: ({ until }) => until && new Date(until).toISOString(),
        show: ({ until }) => (until === null ? '–' : `${moment(until)}, ${span(until - Date.now())} from now`),
      },
    ],
  })
