import { Container } from '../../../../core/container.ts'
import { use } from '../../../../core/plugin.ts'
import { Guard } from '../../../../core/ports/guard.ts'
import { clock, log, random } from '../../../memory/platform.ts'
import { guardsOf, type NamedGuards } from '../../config/guards.ts'
import { readConfig } from '../../config/read-config.ts'
import { fetch } from '../../platform.ts'

interface Wanted {
  readonly redact?: boolean
  readonly guards?: string
}

/** Guards of this machine. Values that they hide are known here alone. */
export const ownGuards = async ({ redact, guards: file }: Wanted): Promise<readonly Guard[]> => {
  const named = file === undefined ? {} : await inFile(file)
  const all = redact ? { redact: { restore: true }, ...named } : named
  const container = new Container()
  const platform = [use(clock), use(random), use(log), use(fetch)]
  for (const fitting of [...platform, ...(await guardsOf(all, 'guards'))]) container.fit<unknown>(fitting)
  return container.supply({ guards: Guard }).guards
}

/** Rejects with the file's name in front of the fault. */
const inFile = async (file: string): Promise<NamedGuards> => {
  const { value } = await readConfig(file).catch((cause: unknown) => {
    throw new Error(`--guards ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  })
  return value as NamedGuards
}
