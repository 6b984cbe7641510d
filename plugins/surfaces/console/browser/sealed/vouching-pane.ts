import { type Child, el, div } from '../element.ts'
import type { OwnMachine } from '../own-machine.ts'
import { button, copied, section, toldPlace, folded } from '../parts.ts'
import { type Attested, keptEvidence } from './attestations.ts'

interface Script {
  readonly name: string
  /** SHA-256 in hex. */
  readonly sha256: string
}

const hexOf = (base64: string): string =>
  [...atob(base64)].map((letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join('')

/** The scripts of this page with the hashes that the browser has checked. */
const scriptsOf = (page: Document): readonly Script[] =>
  [...page.querySelectorAll('[integrity]')].flatMap((element) => {
    const address = element.getAttribute('href') ?? element.getAttribute('src') ?? ''
    const name = /^console\/[0-9a-f]+\/(.+\.js)$/.exec(address)?.[1]
    const hash = /^sha256-(.+)$/.exec(element.getAttribute('integrity') ?? '')?.[1]
    return name === undefined || hash === undefined ? [] : [{ name, sha256: hexOf(hash) }]
  })

const download = (name: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  el('a', { href: address, download: name }).click()
  URL.revokeObjectURL(address)
}

const hashes = (): HTMLElement => {
  const scripts = scriptsOf(document)
  const text = scripts.map(({ name, sha256 }) => `${sha256}  ${name}`).join('\n')
  return folded(`SHA-256 of the ${scripts.length} scripts of this page`, copied(text, 'SHA-256 of the scripts'))
}

const words = (own: OwnMachine | null): Child =>
  own === null
    ? [
        'The gateway served the code of this page, and code served by a gateway cannot vouch for that gateway. ',
        'Check the evidence elsewhere, or run ',
        el('code', {}, 'sealgate console'),
        ' on your own machine: it takes the same code from your own installation.',
      ]
    : ['The code of this page comes from the installation of sealgate on this machine, and not from the gateway.']

/** Who vouches for the code of this page, and how to check without it. */
export const vouchingPane = (
  own: OwnMachine | null,
  base: string,
  attested: () => Attested | null,
  lists: () => unknown,
): HTMLElement => {
  const told = toldPlace()
  const save = (): void => {
    const held = attested()
    if (held === null) told.textContent = 'There is no evidence yet.'
    else download('evidence.json', keptEvidence(held, lists()))
  }
  return section(
    'Who vouches for this page',
    el('p', { class: own === null ? 'warned' : null }, words(own)),
    hashes(),
    copied('sealgate console --hashes', 'Print the same hashes from your own installation'),
    div('actions', button('Download the evidence', save), told),
    copied('sealgate verify --evidence evidence.json --policy policy.json', 'Check the evidence elsewhere'),
    copied(`sealgate verify ${base} --policy policy.json`, 'Ask the enclave from elsewhere'),
  )
}
