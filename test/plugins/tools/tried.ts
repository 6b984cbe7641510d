import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { type AnyPlugin, use } from '../../../core/plugin.ts'
import { type OpenFile, Tool } from '../../../core/ports/tool.ts'
import { fitted } from '../../fitted.ts'

/** The tool among these plugins, with the readers beside it. */
export const toolOf = (...plugins: readonly AnyPlugin[]): Tool =>
  fitted(...plugins.map((plugin) => use(plugin, {}))).supply({ tools: Tool }).tools[0]!

export const params = { fileId: 'file_1' }

export const opened = (bytes: Uint8Array, name = 'some', mime = 'application/octet-stream'): OpenFile => ({
  id: params.fileId,
  name,
  mime,
  bytes,
})

/** The bytes of a file under `test/vectors/files`. */
export const bytesOf = async (path: string): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await readFile(`test/vectors/files/${path}`))

/** What the tool makes of the file. */
export const madeOf = async (
  tool: Tool,
  file: OpenFile,
  more: object = {},
  signal = AbortSignal.timeout(60_000),
): Promise<any> => {
  if (tool.kind !== 'reads-file') throw new Error('It reads no file')
  return tool.run({ ...params, ...more }, signal, file)
}

/** For tests whose tool starts FFmpeg. */
export const skip = spawnSync('ffprobe', ['-version']).status === 0 ? false : 'no ffmpeg here'
