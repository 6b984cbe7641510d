import { parentPort, workerData } from 'node:worker_threads'
import type { Door } from './attacks.ts'
import { type AttackName, attacks } from './besieged.ts'

/** A thread of attackers, each of whom sends the same again and again between a word to begin and one to end. */
const { door, attack, count } = workerData as {
  readonly door: Door
  readonly attack: AttackName
  readonly count: number
}

let isAttacking = false
let attacking: readonly Promise<void>[] = []
const { send } = attacks[attack]

parentPort!.on('message', async (begins: boolean) => {
  isAttacking = begins
  if (begins)
    attacking = Array.from({ length: count }, async () => {
      while (isAttacking) await send(door)
    })
  else await Promise.all(attacking)
  parentPort!.postMessage(null)
})
