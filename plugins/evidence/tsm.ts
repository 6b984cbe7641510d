import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { Prover } from '../../core/ports/attester.ts'
import { inTurn } from './shared/in-turn.ts'

/** As the kernel names its providers. */
const types: Readonly<Record<string, string>> = { sev_guest: 'sev-snp', tdx_guest: 'tdx', arm_cca_guest: 'arm-cca' }

/** Reports of the confidential machine itself, through the kernel's configfs-tsm: SEV-SNP reports and TDX quotes, with what the host laid beside them. */
export default plugin({
  port: Prover,
  name: 'tsm',
  settings: v.strictObject({
    folder: v.optional(v.string(), '/sys/kernel/config/tsm/report'),
    /** The entry that is made there. */
    entry: v.optional(
      v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/, 'a name of lower-case letters, digits and dashes')),
      'sealgate',
    ),
  }),
  create: (_, { folder, entry }): Prover => {
    const at = join(folder, entry)

    /** The kernel counts the changes of an entry. */
    const generation = async () => (await readFile(join(at, 'generation'), 'utf8')).trim()

    const report = async (reportData: Uint8Array) => {
      await mkdir(at, { recursive: true })
      const type = types[(await readFile(join(at, 'provider'), 'utf8')).trim()]
      if (type === undefined) throw new Error('The provider of the TSM entry is unknown')
      const before = await generation()
      await writeFile(join(at, 'inblob'), reportData)
      const outblob = await readFile(join(at, 'outblob'))
      // Another user of the entry would meanwhile have replaced the bytes of the report.
      if (Number(await generation()) !== Number(before) + 1) throw new Error('Another process used the TSM entry')
      const auxblob = await readFile(join(at, 'auxblob')).catch(() => null)
      return {
        type,
        v: 1,
        [type === 'tdx' ? 'quote' : 'report']: outblob.toString('hex'),
        ...(auxblob !== null && auxblob.length > 0 && { auxblob: auxblob.toString('hex') }),
      }
    }

    return {
      platform: 'tsm',
      prove: inTurn(report),
      /** An entry of the kernel outlives its process, so it is removed here. */
      async dispose() {
        await rmdir(at).catch(() => undefined)
      },
    }
  },
})
