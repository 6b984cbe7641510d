import { type Fault, dotted } from './faults.ts'

/** A variable that stands in the place of a setting of the file. */
interface Override {
  readonly variable: string
  readonly path: readonly [section: 'server' | 'log', name: string]
  read(text: string): string | number
}

const overrides: readonly Override[] = [
  { variable: 'HOST', path: ['server', 'host'], read: String },
  { variable: 'PORT', path: ['server', 'port'], read: Number },
  { variable: 'SEALGATE_LOG', path: ['log', 'level'], read: String },
]

type Overridden = Readonly<Partial<Record<'server' | 'log', object>>>

/** What a file or the environment says, with what variables of the gateway itself put in its place. */
export const withOverrides = (config: Overridden, env: NodeJS.ProcessEnv): object => {
  const sections = { server: { ...config.server }, log: { ...config.log } }
  for (const {
    variable,
    path: [section, name],
    read,
  } of overrides) {
    const text = env[variable]
    if (text) Object.assign(sections[section], { [name]: read(text) })
  }
  return { ...config, ...sections }
}

/** The fault of a configuration with overrides; it names the variable where the faulty value is that of one. */
export const blamed = (fault: Fault, value: unknown, env: NodeJS.ProcessEnv): Fault => {
  const place = dotted(fault.path)
  const override = overrides.find(({ path }) => dotted(path) === place)
  const text = override && env[override.variable]
  if (!text) return fault
  const [section, name] = override.path
  const found = (value as Record<string, Record<string, unknown>>)[section]?.[name]
  if (!Object.is(found, override.read(text))) return fault
  return { ...fault, variable: override.variable, words: fault.words.replace(place, `${override.variable} (${place})`) }
}
