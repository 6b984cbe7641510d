import { open, readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { backup, fromRecoveryCode, recoveryCode, restore } from '../../core/client/backup.ts'
import { connect, newKek, newRagDek, rewrapRagDek } from '../../core/client/client.ts'
import { clientOf, clientOptions } from './client-options.ts'
import { type KeyFile, keyFileOf, readKeys, writeKeys } from './key-file.ts'
import { progress } from './progress.ts'

const usage = `sealgate kek new                          makes a file of keys: ./sealgate-keys.json, --keys FILE or SEALGATE_KEYS
sealgate kek backup --out FILE            writes the keys under a passphrase
sealgate kek backup --code                prints a recovery code, for paper
sealgate kek restore --from FILE          reads a backup
sealgate kek restore --code CODE          reads a recovery code
sealgate kek rotate [--rehash]            puts every file under a new key; goes on where it was broken off
The passphrase is asked for, or taken from SEALGATE_PASSPHRASE.`

/** The client's own keys; the gateway never sees them. */
export const kek = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const [verb, ...rest] = args
  const at = (said: string | undefined) => keyFileOf(env, said)
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
      if (values.code) return print(recoveryCode(keys.kek))
      if (values.out === undefined) throw new Error(usage)
      const ring = { kek: keys.kek, wrappedRagDek: keys.wrapped_rag_dek }
      const handle = await open(values.out, 'wx', 0o600)
      try {
        await handle.writeFile(`${await backup(ring, await passphrase(env))}\n`)
        await handle.sync()
      } finally {
        await handle.close()
      }
      return print(values.out)
    }
    case 'restore': {
      const options = { keys: { type: 'string' }, from: { type: 'string' }, code: { type: 'string' } } as const
      const { values } = parseArgs({ args: rest, options })
      if ((values.from === undefined) === (values.code === undefined)) throw new Error(usage)
      await writeKeys(at(values.keys), await restored(values.from, values.code, env), false)
      return print(at(values.keys))
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
      throw new Error(usage)
  }
}

const restored = async (
  from: string | undefined,
  code: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<KeyFile> => {
  if (from === undefined) {
    const kek = fromRecoveryCode(code!)
    // The code has the KEK alone: what was indexed has to be indexed anew.
    return { kek, wrapped_rag_dek: newRagDek(kek) }
  }
  const ring = await restore(await readFile(from, 'utf8'), await passphrase(env))
  return { kek: ring.kek, wrapped_rag_dek: ring.wrappedRagDek }
}

/** The new key is on the disk before the first file is under it. */
const rotate = async (file: string, rehash: boolean, options: Parameters<typeof connect>[0]): Promise<void> => {
  const keys = await readKeys(file)
  const next = keys.next ?? newKek()
  if (keys.next === undefined) await writeKeys(file, { ...keys, next }, true)
  const bar = progress('files')
  const { files } = connect({ ...options, kek: keys.kek })
  const count = await files.rotateKek(next, { rehash, onProgress: bar.told }).finally(bar.end)
  const ragDek = keys.wrapped_rag_dek && rewrapRagDek(keys.wrapped_rag_dek, keys.kek, next)
  await writeKeys(file, { kek: next, wrapped_rag_dek: ragDek }, true)
  print(`${count} files are under the new key; make a new backup`)
}

const passphrase = async (env: NodeJS.ProcessEnv): Promise<string> => {
  const said = env['SEALGATE_PASSPHRASE']
  if (said) return said
  if (!process.stdin.isTTY) throw new Error('SEALGATE_PASSPHRASE is needed where there is no terminal')
  process.stderr.write('Passphrase: ')
  // What is typed is shown nowhere.
  const silent = new Writable({ write: (_, __, done) => done() })
  const line = createInterface({ input: process.stdin, output: silent, terminal: true })
  const typed = await line.question('')
  line.close()
  process.stderr.write('\n')
  if (typed.length < 8) throw new Error('a passphrase has eight characters at least')
  return typed
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
