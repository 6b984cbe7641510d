import { bareShape, type Shape } from './config-shape.ts'

/** A text that names a thing of the gateway: a model, a provider, an organisation, a host. */
const isName = (text: string): boolean => text.length <= 256

/** One of our plugins or a package; a path tells the folders of the machine. */
const isPackage = (text: string): boolean => /^[@a-z][\w@./-]{0,127}$/i.test(text)

/** Characters of a part of a path; a longer one may be an account or a token. */
const mostPartCharacters = 20

/** An address in which nothing can be a secret: no user, no password, no query, and only short parts in its path. */
const isPlainAddress = (text: string): boolean => {
  if (!/^(?:https?|rediss?):\/\/[\x21-\x7e]{1,256}$/.test(text) || /[?#@\\]/.test(text) || !URL.canParse(text))
    return false
  const parts = new URL(text).pathname.split('/')
  return parts.every((part) => part.length <= mostPartCharacters && /^[\w.~-]*$/.test(part))
}

type Test = (text: string) => boolean

/** The texts of a configuration that operators see, by their places; `*` stands for any key. All others are hidden. */
const shownStrings: Readonly<Record<string, Test>> = {
  'names.compat': isName,
  'names.std': isName,
  'names.v1': isName,
  prefix: isName,
  'surfaces.*': isPackage,
  'surfaces.*.use': isPackage,
  'server.host': isName,
  'mcp.url': isPlainAddress,
  'mcp.servers.*.tools.*': isName,
  'mcp.servers.*.organizations.*': isName,
  dashboardUrl: isPlainAddress,
  'trustedProxies.*': isName,
  'cors.origins.*': isPlainAddress,
  'operators.*': isName,
  'prices.currency': isName,
  'models.*.regions.*': isName,
  'models.*.calibration.id': isName,
  'models.*.upstreams.*.provider': isName,
  'models.*.upstreams.*.model': isName,
  'decision.default': isName,
  'decision.aliases.*': isName,
  'decision.escalate.to': isName,
  'decision.escalateFrom.*.to': isName,
  'limits.timeZone': isName,
  'limits.redis': isPlainAddress,
  'issuers.*.issuer': isPlainAddress,
  'issuers.*.keys': isPlainAddress,
  'issuers.*.login.authorize': isPlainAddress,
  'issuers.*.login.token': isPlainAddress,
  'issuers.*.login.redirect': isPlainAddress,
  'betas.refused.*': isName,
  'providers.*.use': isPackage,
  'providers.*.evidence.kind': isPackage,
  'storage.blobs.use': isPackage,
  'storage.metadata.use': isPackage,
  'enclave.evidence.use': isPackage,
  'enclave.providers.*.use': isPackage,
  'enclave.providers.*.evidence.kind': isPackage,
  'enclave.retrieval.model': isName,
  'enclave.collateral.amd': isPlainAddress,
  'enclave.collateral.intel': isPlainAddress,
  'enclave.collateral.intelRootList': isPlainAddress,
}

/** The objects whose keys are names of the operator's that may be seen; the keys of all others are hidden. */
export const namedMembers: ReadonlySet<string> = new Set([
  'models',
  'models.*.price_config',
  'models.*.price_config.*',
  'models.*.calibration.byOptions',
  'decision.aliases',
  'decision.escalateFrom',
  'mcp.servers',
  'organizations',
  'organizations.*.teams',
  'issuers',
  'providers',
  'tools',
  'readers',
  'guards',
  'enclave.providers',
  'enclave.guards',
])

const asks = ({ pipe = [], type }: Shape, action: string): boolean =>
  type === action || pipe.some((step) => step.type === action || (step.pipe !== undefined && asks(step, action)))

/** Whether operators see a single value. `place` is its path in the form of the lists above; null outside our own shape. */
export const isShownValue = (value: unknown, shape: Shape, place: string | null): boolean => {
  const bare = bareShape(shape)
  if (bare.type === 'union') return bare.options?.some((option) => isShownValue(value, option as Shape, place)) === true
  if (value === null) return true
  if (typeof value === 'number' || typeof value === 'boolean') return bare.type === typeof value
  if (typeof value !== 'string') return false
  if (bare.type === 'picklist') return bare.options?.includes(value) === true
  if (bare.type === 'string' && asks(bare, 'url')) return isPlainAddress(value)
  return place !== null && Object.hasOwn(shownStrings, place) && shownStrings[place]?.(value) === true
}
