import { open, readFile, rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type KeyRing, backup, fromRecoveryCode, recoveryCode, restore } from '../../plugins/sealed/client/backup.ts'
import { connect, newKek, newRagDek, rewrapRagDek } from '../../plugins/sealed/client/client.ts'
import { clientOf, clientOptions } from './client-options.ts'
import { type KeyFile, keyFileOf, memoryFileOf, readKeys, writeKeys } from './key-file.ts'
import { newPassphrase, passphrase } from './passphrase.ts'
import { progress } from './progress.ts'
import { commandUsages } from '../production/commands/help.ts'

/** Manages the client's own keys. The gateway never sees them. */
export const kek = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const [verb, ...rest] = args
  const at = (given: string | undefined) => keyFileOf(env, given)
  switch (verb) {
    case 'new': {
      const { values } = parseArgs({ args: rest, options: { keys: { type: 'string' } } })
      const made = newKek()
      await writeKeys(at(values.keys), { kek: made, wrapped_rag_dek: newRagDek(made) }, false)
      return print(`${at(values.keys)}: whoever loses it loses every file that is under it; sealgate kek backup`)
    }
    case 'backup': {
      const options = { keys: { type: 'string' }, out: { type: 'string' }, code: { type: 'boolean' } } as const
      const { values } = parseArgs({ args: rest, options })
      const keys = await readKeys(at(values.keys))
      // Files are under two keys then, and a backup holds one.
      if (keys.next !== undefined) throw new Error('kek backup waits for the end of a rotation: sealgate kek rotate')
      if (values.code) return print(recoveryCode(keys.kek))
      if (values.out === undefined) throw new Error('kek backup needs --out FILE or --code')
      await write(values.out, { kek: keys.kek, wrappedRagDek: keys.wrapped_rag_dek }, env)
      return print(values.out)
    }
    case 'restore': {
      const options = { keys: { type: 'string' }, from: { type: 'string' }, code: { type: 'string' } } as const
      const { values } = parseArgs({ args: rest, options })
      if ((values.from === undefined) === (values.code === undefined))
        throw new Error('kek restore needs either --from FILE or --code CODE')
      await writeKeys(at(values.keys), await restored(values.from, values.code, env), false)
      return print(at(values.keys) + (values.code === undefined ? '' : ': what was indexed has to be indexed anew'))
    }
    case 'rotate': {
      const options = {
        ...clientOptions,
        keys: { type: 'string' },
        rehash: { type: 'boolean', default: false },
      } as const
      const { values } = parseArgs({ args: rest, options })
      return rotate(at(values.keys), values.rehash, clientOf(values, env))
    }
    default:
      throw new Error(commandUsages.kek)
  }
}

/** Never replaces a file. The new file is removed when no passphrase is given. */
const write = async (file: string, ring: KeyRing, env: NodeJS.ProcessEnv): Promise<void> => {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(`${await backup(ring, await newPassphrase(env))}\n`)
    await handle.sync()
  } catch (error) {
    await rm(file, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

/** Rejects when the passphrase or the code is wrong: both carry a check. */
const restored = async (
  from: string | undefined,
  code: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<KeyFile> => {
  if (from === undefined) {
    const kek = fromRecoveryCode(code!)
    // The code holds only the KEK: indexed files must be indexed again.
    return { kek, wrapped_rag_dek: newRagDek(kek) }
  }
  const ring = await restore(await readFile(from, 'utf8'), await passphrase(env))
  return { kek: ring.kek, wrapped_rag_dek: ring.wrappedRagDek }
}

/** The new key is on the disk before the first file is wrapped with it. */
const rotate = async (file: string, rehash: boolean, options: Parameters<typeof connect>[0]): Promise<void> => {
  const keys = await readKeys(file)
  const next = keys.next ?? newKek()
  if (keys.next === undefined) await writeKeys(file, { ...keys, next }, true)
  const bar = progress('files')
  const { files } = connect({ ...options, kek: keys.kek, memory: memoryFileOf(file) })
  const count = await files.rotateKek(next, { rehash, onProgress: bar.told }).finally(bar.end)
  const ragDek = keys.wrapped_rag_dek && rewrapRagDek(keys.wrapped_rag_dek, keys.kek, next)
  await writeKeys(file, { kek: next, wrapped_rag_dek: ragDek }, true)
  print(`${count} ${count === 1 ? 'file is' : 'files are'} under the new key; make a new backup`)
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
