import { huntEnclave } from './hunt-enclave.ts'
import { type Found, chosen, huntParsers } from './hunt-parsers.ts'

/** Files of each kind through the parsers alone, the seed, files of each kind through an enclave, and the kinds; all when absent. */
const [count = 3000, seed = 1, enclosed = 300] = process.argv.slice(2, 5).map(Number)
const of = chosen(process.argv.slice(5))
let wrong = 0

const say = ({ kind, read, refused, slowest, wrong: those }: Found): void => {
  wrong += those.length
  process.stdout.write(
    `${kind.padEnd(8)} ${read} read, ${refused} refused, ${those.length} wrong, slowest ${slowest} ms\n`,
  )
  for (const text of those) process.stdout.write(`  ${text}\n`)
}

process.stdout.write(`${count} files of each kind through the parsers, seed ${seed}\n`)
for await (const found of huntParsers(count, seed, of)) say(found)

/** Whether the enclave is still the same process. */
const throughEnclave = async (): Promise<boolean> => {
  process.stdout.write(`${enclosed} of each kind through an enclave\n`)
  const sealed = huntEnclave(enclosed, seed, of)
  let next = await sealed.next()
  for (; !next.done; next = await sealed.next()) say(next.value)
  process.stdout.write(next.value ? 'the enclave is the same process\n' : 'the enclave was started anew\n')
  return next.value
}

const same = enclosed === 0 || (await throughEnclave())
process.exit(wrong === 0 && same ? 0 : 1)
