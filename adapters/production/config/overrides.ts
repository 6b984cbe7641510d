import { type Fault, dotted } from './faults.ts'
import { variable } from './variables.ts'

/** A variable that stands in the place of a setting of the file. */
interface Override {
  readonly variable: string
  readonly path: readonly [section: 'server' | 'log', name: string]
  read(text: string): string | number
}

const overrides: readonly Override[] = [
  { variable: 'HOST', path: ['server', 'host'], read: String },
  { variable: 'PORT', path: ['server', 'port'], read: (text) => (text.trim() === '' ? NaN : Number(text)) },
  { variable: 'SEALGATE_LOG', path: ['log', 'level'], read: String },
]

type Overridden = Readonly<Partial<Record<'server' | 'log', unknown>>>

/** A section that is absent is empty; null stands for what is no section, and stays for its fault. */
const sectionOf = (written: unknown = {}): object | null => (typeof written === 'object' ? written : null)

/** What a file or the environment says, with what variables of the gateway itself put in its place. */
export const withOverrides = (config: Overridden, env: NodeJS.ProcessEnv): object => {
  const whole: Record<string, unknown> = { ...config }
  for (const {
    variable: variableName,
    path: [section, name],
    read,
  } of overrides) {
    const text = variable(env, variableName)
    const written = sectionOf(whole[section])
    if (written !== null) whole[section] = { ...written, ...(text !== '' && { [name]: read(text) }) }
  }
  return whole
}

/** The fault of a configuration with overrides; it names the variable where the faulty value is that of one. */
export const blamed = (fault: Fault, value: unknown, env: NodeJS.ProcessEnv): Fault => {
  const place = dotted(fault.path)
  const override = overrides.find(({ path }) => dotted(path) === place)
  const text = override === undefined ? '' : variable(env, override.variable)
  if (override === undefined || text === '') return fault
  const [section, name] = override.path
  const found = (value as Record<string, Record<string, unknown>>)[section]?.[name]
  if (!Object.is(found, override.read(text))) return fault
  return { ...fault, variable: override.variable, words: fault.words.replace(place, `${override.variable} (${place})`) }
}
