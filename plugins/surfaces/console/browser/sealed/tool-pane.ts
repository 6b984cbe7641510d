import type { Client } from '../../../../sealed/client/client.ts'
import type { ToolDescriptor } from '../../../../sealed/client/tools.ts'
import { append, el, freshId } from '../element.ts'
import { form, note, prose, section, select, sending } from '../parts.ts'
import { RefusedHere, type Witness, doing, labelled } from './doing.ts'

type Params = Readonly<Record<string, unknown>>

const examples: Readonly<Record<string, Params>> = {
  getTime: { timezone: 'Europe/Berlin' },
  webSearchTool: { query: 'herons' },
  webPageScraperTool: { url: 'example.org' },
}

const exampleOf = ({ name, kind }: ToolDescriptor, fileId: string | null): string =>
  JSON.stringify(kind === 'reads-file' ? { fileId: fileId ?? '' } : (examples[name] ?? {}), null, 2)

const paramsIn = (text: string): Params => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Params
  } catch {
    // The words below say what is expected.
  }
  throw new RefusedHere('The parameters are one JSON object')
}

export interface Tooling {
  readonly client: () => Client
  /** The file of this tab that tools may read; null without one. */
  readonly fileId: () => string | null
  readonly witness: Witness
  readonly signal: AbortSignal
}

/** Runs a tool inside the enclave. */
export const toolPane = (
  tools: readonly ToolDescriptor[],
  { client, fileId, witness, signal }: Tooling,
): HTMLElement => {
  const usable = tools
    .filter(({ kind }) => kind === 'simple' || kind === 'reads-file')
    .toSorted((one, other) => Number(other.name === 'getTime') - Number(one.name === 'getTime'))
  if (usable.length === 0) return section('Tool', note('This gateway serves no tool that needs no key of your own.'))
  const [nameId, paramsId] = [freshId('tool'), freshId('params')]
  const choice = select(
    { id: nameId },
    usable.map(({ name }) => [name, name]),
  )
  const params = el('textarea', { id: paramsId, rows: 4, spellcheck: 'false', autocomplete: 'off' })
  const about = el('small', {})
  const { told, run } = doing(signal)
  const result = el('pre', { tabindex: 0, role: 'region', 'aria-label': 'Result of the tool' })
  const chosen = (): void => {
    const tool = usable.find(({ name }) => name === choice.value)
    if (tool === undefined) return
    params.value = exampleOf(tool, fileId())
    about.replaceChildren()
    append(about, prose(tool.description))
  }
  choice.addEventListener('change', chosen)
  chosen()
  const call = async (): Promise<void> => {
    const given = paramsIn(params.value)
    witness.begins(`${choice.value} ${JSON.stringify(given)}`)
    const json = JSON.stringify(await client().tools.call(choice.value, given, { signal }), null, 2)
    result.textContent = json
    witness.ends(json)
  }
  return section(
    'Tool',
    form(
      () => run(call),
      labelled('Tool', nameId, choice),
      about,
      labelled('Parameters, in JSON', paramsId, params),
      told,
      sending('Run sealed'),
    ),
    result,
  )
}
