import { parseArgs } from 'node:util'
import { operator } from '../../../core/access/audit.ts'
import { type Scope, scopes } from '../../../core/access/caller.ts'
import type { Mode } from '../../../core/access/credential.ts'
import { isName } from '../../../core/access/names.ts'
import type { Gateway } from '../../../core/gateway.ts'
import { boot } from '../boot.ts'
import { usages } from './help.ts'

/** The keys of the installation that the environment describes; prints to standard output. */
export const keys = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      organization: { type: 'string' },
      user: { type: 'string' },
      mode: { type: 'string' },
      scopes: { type: 'string' },
      models: { type: 'string' },
      addresses: { type: 'string' },
      days: { type: 'string' },
    },
  })
  const [verb, id] = positionals
  if (!['create', 'list', 'revoke'].includes(verb ?? '')) throw new Error(usages.keys)
  if (verb === 'revoke' && id === undefined) throw new Error('keys revoke needs the id of a key')
  const { gateway } = await boot({ ...env, SEALGATE_LOG: 'silent' }, [])
  try {
    switch (verb) {
      case 'create': {
        const { name, organization, user, days } = values
        const expires_at = days === undefined ? null : Date.now() + positive(days) * 86_400_000
        const wanted = {
          ...(name !== undefined && { name }),
          ...(organization !== undefined && { organization: plain(organization) }),
          ...(user !== undefined && { user: plain(user) }),
          mode: modeOf(values.mode ?? 'live'),
          scopes: values.scopes === undefined ? scopes : split(values.scopes).map(scopeOf),
          models: values.models === undefined ? null : split(values.models),
          addresses: values.addresses === undefined ? null : split(values.addresses),
          expires_at,
        }
        const made = await gateway.audit.record(
          operator('command', organization),
          'key.create',
          null,
          () => gateway.keys.create(wanted),
          ({ row }) => row.id,
        )
        return print(`${made.row.id}\n${made.credential}`)
      }
      case 'list': {
        for (let offset = 0; ; offset += 100) {
          const { rows, total } = await gateway.keys.list(values.organization ?? null, 100, offset)
          for (const row of rows)
            print([row.id, row.organization, row.user, `sk_${row.mode}_…${row.hint}`, state(row), row.name].join('\t'))
          if (offset + rows.length >= total) return
        }
      }
      case 'revoke':
        return print(`${await revoked(id!, values.organization ?? null, gateway)} revoked`)
    }
  } finally {
    await gateway.close()
  }
}

const revoked = async (id: string, organization: string | null, { keys, audit }: Gateway): Promise<string> => {
  const row = await keys.get(id, organization)
  if (row === null) throw new Error('there is no such key')
  await audit.record(operator('command', row.organization), 'key.revoke', row.id, () => keys.revoke(row.id, null))
  return row.id
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const split = (list: string): readonly string[] => list.split(',').map((it) => it.trim())

const state = (row: { readonly revoked_at: number | null; readonly expires_at: number | null }): string =>
  row.revoked_at !== null ? 'revoked' : row.expires_at !== null && row.expires_at <= Date.now() ? 'expired' : 'active'

const positive = (text: string): number => {
  const number = Number(text)
  if (!(number > 0)) throw new Error('--days takes a number above 0')
  return number
}

const plain = (text: string): string => {
  if (!isName(text))
    throw new Error('organisations and users are letters, digits and . _ @ -, with a letter or digit at both ends')
  return text
}

const modeOf = (text: string): Mode => {
  if (text !== 'live' && text !== 'test') throw new Error('--mode is live or test')
  return text
}

const scopeOf = (text: string): Scope => {
  const scope = scopes.find((it) => it === text)
  if (scope === undefined) throw new Error(`--scopes knows ${scopes.join(', ')}`)
  return scope
}
