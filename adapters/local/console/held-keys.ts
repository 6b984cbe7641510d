import { access } from 'node:fs/promises'
import { toHex, fromHex } from '../../../plugins/sealed/wire/bytes.ts'
import { kekId } from '../../../plugins/sealed/wire/schedule.ts'
import { keyFileOf, memoryFileOf, readKeys } from '../key-file.ts'

/** The reader's own keys of files. They stay in this process. */
export const heldKeys = async (env: NodeJS.ProcessEnv, given: string | undefined) => {
  const file = keyFileOf(env, given)
  const named = given !== undefined || env['SEALGATE_KEYS'] !== undefined
  if (!named && !(await isThere(file))) return null
  const { kek, wrapped_rag_dek } = await readKeys(file)
  const wrapped = wrapped_rag_dek === null ? {} : { wrappedRagDek: wrapped_rag_dek }
  return { kid: toHex(kekId(fromHex(kek, 32)!)), secrets: { kek, ...wrapped, memory: memoryFileOf(file) } }
}

/** A named file must exist; only the file of the default name may be missing. */
const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )
