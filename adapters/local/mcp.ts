import { parseArgs } from 'node:util'
import { connect, newKek, newRagDek } from '../../plugins/sealed/client/client.ts'
import { version } from '../production/config/version.ts'
import { clientOf, clientOptions } from './client-options.ts'
import { errorText } from './error-text.ts'
import { memoryFileOf, readKeys } from './key-file.ts'
import { type Entry, chosenTools, listedTool } from './mcp/catalog.ts'
import { protocol } from '../../plugins/shared/dialects/mcp/protocol.ts'
import { RpcError, rpcErrorCodes } from '../../plugins/shared/dialects/mcp/rpc.ts'
import { serveLines } from './mcp/json-rpc.ts'
import { longResults } from './mcp/long-results.ts'
import { openResultFolder } from './mcp/made-files.ts'
import { fileOpener, rootsOf } from './mcp/roots.ts'
import { type ToolBench, runTool, toolNamed } from './mcp/sealed-tools.ts'
import { sentFiles } from './mcp/sent-files.ts'

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
