import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { url as inspectorUrl } from 'node:inspector'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInert, isOfRuntime } from './inert-variables.ts'
import { variablesIn } from '../config/variables.ts'
import { parseJsonc } from '../config/jsonc.ts'

/** The start of an enclave process, as far as its release digest covers it. */
export interface EnclaveStart {
  /**
   * The content of the file in `SEALGATE_CONFIG`, with its `$NAME`s. Null when the configuration comes on standard
   * input.
   */
  readonly written: unknown
  /** The options of Node. */
  readonly options: readonly string[]
  readonly arguments: readonly string[]
  /** The names of the variables that the configuration uses. */
  readonly variables: readonly string[]
}

/** The only accepted options of Node: they change the memory limits and no code. */
const sizes = /^--max-(old|semi)-space-size=\d{1,6}$/

/** The largest number of names in one message. */
const mostNames = 10

/** Throws unless everything in the start of the enclave process is on a list. */
export const hardenStart = (process: NodeJS.Process): EnclaveStart => {
  const [, entry = '', ...rest] = process.argv
  shut(process)
  mustBeEntry(entry)
  if (rest.join(' ') !== 'enclave') throw new Error('the enclave takes no arguments')
  const option = process.execArgv.find((option) => !sizes.test(option))
  if (option !== undefined) throw new Error(`the enclave does not start with ${plain(option)}; start Node without it`)
  if (process.channel) throw new Error('the enclave does not start with a channel to the process that starts it')
  if (inspectorUrl() !== undefined) throw new Error('the enclave does not start with an inspector')
  const file = process.env['SEALGATE_CONFIG']
  // A gateway that starts its own enclave would load packages from HOME, too.
  if (file) mustBeAlone(process.env['HOME'])
  const written = file ? parsed(readFileSync(file, 'utf8')) : null
  const variables = variablesIn(written)
  mustBeListed(Object.keys(process.env), variables)
  return { written, options: process.execArgv, arguments: rest, variables }
}

/** Node falls back to packages in these folders. */
const mustBeAlone = (home: string | undefined): void => {
  const folder = ['.node_modules', '.node_libraries'].find((name) => home && existsSync(join(home, name)))
  if (folder !== undefined) throw new Error(`the enclave does not start with a folder ${folder} in HOME; remove it`)
}

/** Disables the inspector on a signal, and reports that would contain memory. */
const shut = (process: NodeJS.Process): void => {
  process.on('SIGUSR1', () => undefined)
  Object.assign(process.report, { reportOnFatalError: false, reportOnSignal: false, reportOnUncaughtException: false })
}

/** Another program, or a script on standard input, could run its own code before this one. */
const mustBeEntry = (entry: string): void => {
  const own = fileURLToPath(new URL('../main.js', import.meta.url))
  if (!existsSync(entry) || realpathSync(entry) !== realpathSync(own))
    throw new Error('the enclave does not start from another program; start sealgate enclave itself')
}

/** A message has names alone, since values may be secrets. */
const mustBeListed = (names: readonly string[], configured: readonly string[]): void => {
  const reserved = configured.find(isOfRuntime)
  if (reserved !== undefined)
    throw new Error(`the enclave does not start with ${reserved} in its configuration; name the variable otherwise`)
  const refused = names.filter((name) => !isInert(name) && !configured.includes(name))
  if (refused.length === 0) return
  const told = refused.slice(0, mostNames).map(plain).join(', ') + (refused.length > mostNames ? ' and others' : '')
  throw new Error(
    `the enclave does not start with ${told} set; start it without, or name what it needs in its configuration`,
  )
}

/** The name of a variable or an option, without its value. */
const plain = (word: string): string => /^-{0,2}[A-Za-z_][\w.-]*/.exec(word)?.[0] ?? 'a name that is no word'

/** The same format as the gateway reads. Errors have our own words. */
export const parsed = (text: string): unknown => {
  try {
    return parseJsonc(text).value
  } catch {
    throw new Error('the configuration is not JSON')
  }
}
