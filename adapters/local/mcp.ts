import { parseArgs } from 'node:util'
import { connect, newKek, newRagDek, type Client } from '../../plugins/sealed/client/client.ts'
import { version } from '../production/config/version.ts'
import { clientOf, clientOptions } from './client-options.ts'
import { errorText } from './error-text.ts'
import { memoryFileOf, readKeys } from './key-file.ts'
import { type Entry, chosenTools, listedTool, type Kind } from './mcp/catalog.ts'
import { protocol, type CallContext } from '../../plugins/shared/dialects/mcp/protocol.ts'
import { RpcError, rpcErrorCodes } from '../../plugins/shared/dialects/mcp/rpc.ts'
import { serveLines } from './mcp/json-rpc.ts'
import { longResults, type LongResults } from './mcp/long-results.ts'
import { openResultFolder, type KeepMadeFile } from './mcp/made-files.ts'
import { fileOpener, rootsOf } from './mcp/roots.ts'
import { sentFiles, type SentFiles } from './mcp/sent-files.ts'
import * as v from 'valibot'
import type { DecisionParams } from '../../plugins/sealed/client/decisions.ts'
import { SealgateError } from '../../plugins/sealed/client/error.ts'
import type { OpenedFile, SealedFile } from '../../plugins/sealed/client/file-shapes.ts'
import type { MadeByTool } from '../../plugins/sealed/client/tool-shapes.ts'

const instructions =
  'These tools run inside a verified enclave. Arguments, files and results are sealed on this machine. ' +
  'A file is a path under an allowed folder, or the id of a stored file. Files that tools make are local files.'

/** In ms: the longest time to remove the session's files at the end, also when the gateway does not answer. */
const cleanUpMs = 2_000

const options = {
  ...clientOptions,
  tools: { type: 'string' },
  root: { type: 'string', multiple: true },
  hidden: { type: 'boolean', default: false },
  out: { type: 'string' },
  keys: { type: 'string' },
} as const

/** Reads the keys of a file. Without a file, the keys live for this session, and its files are removed at the end. */
const secretsOf = async (passphrase: string | undefined) => {
  if (passphrase === undefined) {
    const kek = newKek()
    return { kek, wrappedRagDek: newRagDek(kek), store: null }
  }
  const { kek, wrapped_rag_dek } = await readKeys(passphrase)
  const wrapped = wrapped_rag_dek === null ? {} : { wrappedRagDek: wrapped_rag_dek }
  return { kek, ...wrapped, memory: memoryFileOf(passphrase), store: memoryFileOf(`${passphrase}.sent`) }
}

/** Verifies the enclave before the first tool is listed. The error names the rule that failed. */
const offering = ({ client }: ToolBench, entries: readonly Entry[]) => {
  let offered: Promise<readonly Entry[]> | null = null

  const proven = async (): Promise<readonly Entry[]> => {
    await client.verify()
    const served = new Set((await client.tools.list()).map(({ name }) => name))
    return entries.filter(({ kind, name }) => kind === 'keeps' || kind === 'decides' || served.has(name))
  }

  return () =>
    (offered ??= proven().catch((error: unknown) => {
      offered = null
      throw new RpcError(rpcErrorCodes.refused, errorText(error))
    }))
}

/** Serves sealed tools to a local agent over standard input and output. Runs until the input ends. */
export const mcp = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options })
  const { store, ...secrets } = await secretsOf(values.keys ?? env['SEALGATE_KEYS'])
  const client = connect({ ...clientOf(values, env), ...secrets })
  const entries = chosenTools(values.tools)
  const roots = await rootsOf(values.root ?? [])
  const openFile = fileOpener(roots, values.hidden, env)
  const sent = await sentFiles({ files: client.files, openFile, kek: secrets.kek, store })
  const bench: ToolBench = { client, sent, results: longResults(), keepMade: await openResultFolder(values.out, roots) }
  const offered = offering(bench, entries)

  const answering = protocol({
    version: await version(),
    instructions,
    tools: async () => (await offered()).map(listedTool),
    call: async (name, given, told) => runTool(bench, toolNamed(await offered(), name), given, told),
    resources: bench.results,
    // Which tools there are changes with a restart alone.
    lasting: 3_600_000,
  })
  await serveLines(process.stdin, process.stdout, answering)
  const late = new Promise<void>((resolve) => setTimeout(resolve, cleanUpMs).unref())
  await Promise.race([sent.end(), late])
  // An aborted call may keep a connection open, which would keep the process alive.
  process.exit()
}

/** The client, files and folders that the tools work with. */
interface ToolBench {
  readonly client: Client
  readonly sent: SentFiles
  readonly keepMade: KeepMadeFile
  readonly results: LongResults
}

type Args = Readonly<Record<string, unknown>>

/** The content parts of a result. */
type Content = readonly object[]

type Work = (bench: ToolBench, entry: Entry, args: Args, context: CallContext) => Promise<Content>

/** A text goes as it is, and everything else as JSON; long ones become pages. */
const asText = ({ results }: ToolBench, { name }: Entry, value: unknown): Content =>
  results.contentOf(typeof value === 'string' ? value : JSON.stringify(value), name)

/** The gateway knows no such file any more: it was removed, or its time is over. */
const isGone = (error: unknown): boolean => error instanceof SealgateError && error.status === 404

/** Runs the work with a file's id. When the store lost the file, the file is sent once more. */
const withFile = async <T>(
  sent: SentFiles,
  path: string,
  context: CallContext,
  work: (id: string) => Promise<T>,
): Promise<T> => {
  try {
    return await work(await sent.idOf(path, context))
  } catch (error) {
    if (!isGone(error) || sent.isId(path)) throw error
    return work(await sent.idOf(path, context, { again: true }))
  }
}

/** Writes the file to the local disk and returns a link to it. */
const writeLocally = async (
  { keepMade }: ToolBench,
  file: OpenedFile,
  id: string,
  signal: AbortSignal,
): Promise<Content> => {
  const { uri, path } = await keepMade(file, signal)
  const { name, mime: mimeType } = file
  const told = JSON.stringify({ id, name, mimeType, path })
  return [
    { type: 'text', text: told },
    { type: 'resource_link', uri, name: name === '' ? id : name, mimeType },
  ]
}

const download = async (bench: ToolBench, id: string, { signal, progress }: CallContext): Promise<Content> =>
  writeLocally(bench, await bench.client.files.download(id, { signal, onProgress: progress }), id, signal)

const rowOf = ({ id, name, mime, created_at, rag_status }: SealedFile) => ({
  id,
  name,
  mime,
  created: created_at,
  indexed: rag_status,
})

const keeping: Readonly<Record<string, Work>> = {
  async listFiles(bench, entry, { offset = 0 }) {
    const page = await bench.client.files.list({ limit: 50, offset: Number(offset) })
    return asText(bench, entry, { total: page.total, files: page.files.map(rowOf), locked: page.locked.length })
  },
  async storeFile(bench, entry, { file, index = false }, told) {
    const store = (again: boolean) => bench.sent.idOf(String(file), told, { index: index === true, again, held: true })
    const id = await store(false).catch((error: unknown) => (isGone(error) ? store(true) : Promise.reject(error)))
    return asText(bench, entry, { id })
  },
  fetchFile: (bench, _, { id }, told) => download(bench, String(id), told),
  async removeFile(bench, entry, { id }) {
    await bench.client.files.remove(String(id))
    return asText(bench, entry, { removed: id })
  },
}

const works: Readonly<Record<Kind, Work>> = {
  asks: async (bench, entry, args, { signal }) =>
    asText(bench, entry, await bench.client.tools.call(entry.name, args, { signal })),

  async decides(bench, entry, args, told) {
    const params = { model: 'jev-latest', ...args } as DecisionParams
    return asText(bench, entry, await bench.client.decisions.create(params, told))
  },

  async reads(bench, entry, { file, ...rest }, told) {
    const call = (fileId: string) => bench.client.tools.call(entry.name, { ...rest, fileId }, told)
    return asText(bench, entry, await withFile(bench.sent, String(file), told, call))
  },

  async makes(bench, entry, args, told) {
    const made = (await bench.client.tools.call(entry.name, args, told)) as MadeByTool
    return download(bench, made.fileId, told)
  },

  async searches(bench, entry, { files, ...rest }, told) {
    const ids: string[] = []
    for (const path of (files as readonly string[] | undefined) ?? []) ids.push(await bench.sent.idOf(path, told))
    const params = { ...rest, ...(files !== undefined && { fileIds: ids }) }
    return asText(bench, entry, await bench.client.tools.call(entry.name, params, told))
  },

  keeps(bench, entry, args, told) {
    const work = keeping[entry.name]
    if (work === undefined) throw new Error('A tool of files has no work')
    return work(bench, entry, args, told)
  },
}

/** Names each wrong argument and what it should be. The value itself never appears. */
const wrongArguments = (issues: readonly v.BaseIssue<unknown>[]): string =>
  issues
    .map((issue) => `${v.getDotPath(issue) ?? 'arguments'}: ${issue.expected ?? 'another value'} is needed`)
    .join('; ')

/** The agent reads the sentence, and may call again with other arguments. */
const failed = (text: string): object => ({ isError: true, content: [{ type: 'text', text }] })

/** Runs one tool. An error that the agent can correct is a result; a cancelled call throws. */
const runTool = async (bench: ToolBench, entry: Entry, given: unknown, context: CallContext): Promise<object> => {
  const args = v.safeParse(entry.params, given)
  if (!args.success) return failed(wrongArguments(args.issues))
  try {
    return { content: await works[entry.kind](bench, entry, args.output, context) }
  } catch (error) {
    context.signal.throwIfAborted()
    return failed(errorText(error))
  }
}

/** Throws when no tool of this name is offered. */
const toolNamed = (offered: readonly Entry[], name: string): Entry => {
  const entry = offered.find((entry) => entry.name === name)
  if (entry === undefined) throw new RpcError(rpcErrorCodes.params, 'There is no such tool')
  return entry
}
