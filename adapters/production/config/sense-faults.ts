import { access, constants } from 'node:fs/promises'
import { type Config, plainModels } from './config.ts'
import { didYouMean, hintsAmong } from './did-you-mean.ts'
import { type Fault, dotted } from './faults.ts'
import { nameIn } from './variables.ts'

const fault = (path: Fault['path'], words: string): Fault => ({ path, words: `${dotted(path)}${words}` })

/** Whether this configuration starts an enclave, or is that of one. */
const hasOwnEnclave = ({ sealing, enclave: { connect } }: Config): boolean => sealing && connect === undefined

/** Development evidence is refused in production. */
export const devFaults = (config: Config): readonly Fault[] => {
  const { env, enclave } = config
  const { evidence, allowDev } = enclave
  if (env !== 'production' || (evidence?.use ?? 'dev') !== 'dev' || allowDev || !hasOwnEnclave(config)) return []
  const mends =
    'name another evidence, name running enclaves in enclave.connect, serve without sealing by "enclave": null'
  return [
    fault(
      ['enclave', 'evidence'],
      ` is dev, which proves nothing and which env "production" refuses: ${mends}, or accept it by enclave.allowDev`,
    ),
  ]
}

/** Models that name an unknown provider, or that no backend can ever serve. */
const modelFaults = (config: Config): readonly Fault[] => {
  const { providers, enclave } = config
  const inside = Object.keys(enclave.providers ?? providers)
  const known = [...new Set([...Object.keys(providers), ...inside])]
  const hint = hintsAmong(known)
  return Object.entries(plainModels(config)).flatMap(([model, { upstreams, confidential }]): readonly Fault[] => {
    const place = ['models', model, 'upstreams']
    const strangers = upstreams.flatMap(({ provider }, at) =>
      known.includes(provider)
        ? []
        : [fault([...place, String(at), 'provider'], ` is not a provider${hint(provider)}`)],
    )
    if (strangers.length > 0) return strangers
    const homeless =
      confidential && hasOwnEnclave(config) && !upstreams.some(({ provider }) => inside.includes(provider))
    return [
      ...(homeless
        ? [fault(place, ': none of its providers is configured for the enclave; add one to enclave.providers')]
        : []),
      ...(upstreams.every(({ weight }) => weight === 0)
        ? [fault(place, ': each has weight 0, so no backend is ever asked; give one a weight above 0')]
        : []),
    ]
  })
}

/** Names of models, at places that name one. Models that the backends list themselves are unknown here. */
const namedModels = ({
  decision,
  enclave,
  tools = {},
}: Config): readonly (readonly [path: string[], name: unknown])[] =>
  [
    [['decision', 'default'], decision.default],
    ...Object.entries(decision.aliases).map(([alias, name]) => [['decision', 'aliases', alias], name] as const),
    [['decision', 'escalate', 'to'], decision.escalate?.to],
    ...Object.entries(decision.escalateFrom).map(
      ([from, { to }]) => [['decision', 'escalateFrom', from, 'to'], to] as const,
    ),
    [['enclave', 'retrieval', 'model'], enclave.retrieval?.model],
    ...Object.entries(tools).map(([tool, settings]) => [['tools', tool, 'model'], settings['model']] as const),
  ].map(([path, name]) => [path as string[], name])

const unnamedFaults = (config: Config): readonly Fault[] => {
  const names = Object.keys(plainModels(config))
  if (names.length === 0) return []
  return namedModels(config).flatMap(([path, name]) => {
    const isElsewhere = path[0] !== 'decision' && !hasOwnEnclave(config)
    if (typeof name !== 'string' || isElsewhere || names.includes(name)) return []
    return [fault(path, ` names no model of models${didYouMean(name, names)}`)]
  })
}

/** Models that decisions name and that do not decide. */
const undecidedFaults = ({ decision, models }: Config): readonly Fault[] =>
  (
    [
      ['default', decision.default],
      ['escalate', decision.escalate?.to],
    ] as const
  ).flatMap(([setting, name]) => {
    const model = name === undefined ? undefined : models[name]
    if (model?.upstreams === undefined || model.decide || model.type === 'DECISION') return []
    const path = setting === 'default' ? ['decision', 'default'] : ['decision', 'escalate', 'to']
    return [fault(path, ` names a model that does not decide; set models.${name}.decide to true`)]
  })

/** A variable stands alone: inside a longer text it stays as it is written. */
const embedded = /\$\{?([A-Z_][A-Z0-9_]*)\}?/

const variableFaults = (value: unknown, env: NodeJS.ProcessEnv, path: readonly string[] = []): readonly Fault[] => {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, each]) => variableFaults(each, env, [...path, key]))
  if (typeof value !== 'string' || nameIn(value) !== null) return []
  const name = embedded.exec(value)?.[1]
  if (name === undefined || !(value.includes('://') || env[name] !== undefined)) return []
  return [
    fault(path, `: $${name} inside a text stays as it is written; put the whole text into a variable, as "$NAME"`),
  ]
}

/** Places of confidential processes that nobody could reach. */
const placeFaults = ({ enclave: { connect = [], listen, tls } }: Config): readonly Fault[] => {
  const named = connect.map((at, index) => ({ path: ['enclave', 'connect', String(index)], at }))
  const all = listen === undefined ? named : [...named, { path: ['enclave', 'listen'], at: listen }]
  return all.flatMap(({ path, at }) => {
    if (at.startsWith('/')) return []
    if (!/^[^/\s]+:\d{1,5}$/.test(at))
      return [fault(path, ' is neither the path of a unix socket, which begins with a slash, nor host:port')]
    return tls === undefined
      ? [fault(path, ' needs enclave.tls: without a unix socket both sides must prove themselves')]
      : []
  })
}

/** Files that the start reads. */
const unreadableFiles = async ({ enclave: { tls } }: Config): Promise<readonly Fault[]> => {
  const faults = await Promise.all(
    Object.entries(tls ?? {}).map(async ([name, file]) => {
      const code = await access(file, constants.R_OK).then(
        () => null,
        (error: NodeJS.ErrnoException) => error.code,
      )
      return code === null ? [] : [fault(['enclave', 'tls', name], `: the file can't be read (${code})`)]
    }),
  )
  return faults.flat()
}

/** Faults of a well-shaped configuration whose parts do not fit each other. */
export const senseFaults = async (
  config: Config,
  written: unknown,
  env: NodeJS.ProcessEnv,
): Promise<readonly Fault[]> => [
  ...variableFaults(written, env),
  ...devFaults(config),
  ...placeFaults(config),
  ...modelFaults(config),
  ...unnamedFaults(config),
  ...undecidedFaults(config),
  ...(await unreadableFiles(config)),
]
