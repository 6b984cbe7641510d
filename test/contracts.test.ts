import { readdir } from 'node:fs/promises'
import t from 'tap'
import type { Proof } from './contracts/contract.ts'

const here = new URL('./contracts/', import.meta.url)
/** The form of contracts and the stage of recorded answers are none. */
const files = (await readdir(here)).filter((file) => /^[^.]+\.[jt]s$/.test(file) && !/^(contract|stage)\./.test(file))

t.ok(files.length > 0, 'there are contracts')
for (const file of files) {
  const proofs = Object.values((await import(new URL(file, here).href)) as Record<string, unknown>).filter(
    (stage): stage is Proof<any, any> =>
      typeof stage === 'object' && stage !== null && 'contract' in stage && 'wrong' in stage,
  )
  t.test(file, async (t) => {
    t.equal(proofs.length, 1, 'proves itself')
    for (const { contract, right, wrong } of proofs) {
      for (const [promise, check] of Object.entries<any>(contract)) {
        await t.resolves(
          check(async () => right()),
          `${promise}: a right one keeps it`,
        )
        const broken = async () => {
          const stage = await right()
          return { ...stage, ...(wrong as any)[promise](stage) }
        }
        await t.rejects(check(broken), `${promise}: a wrong one is caught`)
      }
    }
  })
}
