import { bodyOf, chargeOf } from './bodies.ts'
import type { Operation } from './operations.ts'
import { begin } from './begin.ts'
import type { Head } from './send.ts'
import { ask, order, within } from './ask.ts'
import {
  Broken,
  Disturbed,
  type Key,
  type Limits,
  type Open,
  type Scene,
  boundsOf,
  concurrencyOf,
  known,
  made,
  must,
  mustUnlessDisturbed,
  names,
  note,
  quiet,
} from './scene.ts'

export const perform = async (scene: Scene, operation: Operation): Promise<void> => {
  if (operation.do === 'begin') await begin(scene, operation)
  else if (operation.do === 'make') await make(scene, operation.replica, operation.limits)
  else if (operation.do === 'end') await end(scene, operation)
  else if (operation.do === 'leave') await leave(scene, operation.which)
  else {
    const key = scene.keys[operation.which % scene.keys.length]!
    if (operation.do === 'change') await change(scene, key, operation.replica, operation.to)
    else await others[operation.do](scene, key, operation.replica, operation.which)
  }
  const faults = scene.stage.provider.faults(`${scene.organization}.`)
  must(faults.length === 0, () => faults.join('; '))
}

/** Made at one replica and used at the next at once. */
export const make = async (scene: Scene, replica: number, limits: Limits): Promise<void> => {
  if (scene.keys.length === 4) return
  const answer = await order<{ id: string; key: string }>(scene, replica, 'POST', '/admin/keys', { limits })
  if (answer === null) return
  note(scene, 'made')
  const key = made(answer.id, answer.key, limits)
  scene.keys.push(key)
  const status = await knock(scene, key, replica + 1)
  must(status === 200 || status === 429, () => `a key that was just made is answered with ${status}`)
}

/** What a key is answered that asks for nothing that costs. */
const knock = async (scene: Scene, { credential, requests }: Key, replica: number): Promise<number> => {
  const from = Date.now()
  scene.calm = false
  const sent = ask(scene, replica, { method: 'GET', path: '/compat/v1/models', key: credential })
  const { status } = await within(sent.head, 'a key is not answered')
  const text = await sent.whole
  if (status === 503) throw new Disturbed()
  if (status !== 401 && !text.includes('Too many requests')) requests?.taken(1, from, Date.now())
  return status
}

const end = async (scene: Scene, { which, count, input, output }: Operation & { readonly do: 'end' }) => {
  const calls = scene.open.splice(which % Math.max(1, scene.open.length), count)
  await Promise.all(calls.map((call) => finish(scene, call, { input, output })))
}

const finish = async (
  scene: Scene,
  { key, kind, body, flight, sent, head, left }: Open,
  counted: { input: number; output: number },
) => {
  scene.calm = false
  note(scene, 'ended')
  flight.end(counted)
  const text = await within(sent.whole, 'a call does not end')
  const stream = kind === 'stream' || kind === 'sealed stream'
  must(!stream || text.trimEnd().endsWith('data: [DONE]'), () => `a stream is cut: ${text.slice(-300)}`)
  const own = kind === 'chat' || kind === 'stream' ? text.includes(flight.mark) : true
  must(own, () => `${flight.mark} got the answer of another`)
  if (kind === 'sealed stream') {
    const [left] = await scene.stage.places([names.stream(key)])
    mustUnlessDisturbed(left === 0, () => 'a stream holds its place after its last frame')
  }
  if (kind === 'chat' || kind === 'stream') tells((await head).headers, left)
  key.tally.requests++
  key.tally.input += counted.input
  key.tally.output += counted.output
  for (const token of key.tokens) token.owed(chargeOf(body, token.most) - counted.input - counted.output)
}

/** The headers of an answer, against what was left when its call began. */
const tells = (headers: Head['headers'], left: Open['left']): void => {
  const [most, rest] = ['limit', 'remaining'].map((name) => Number(headers[`x-ratelimit-${name}-tokens`]))
  const row = left.find((row) => row.most === most)
  const told = left.length === 0 || (row !== undefined && rest! >= Math.floor(row.low) && rest! <= row.high)
  must(told, () => `an answer tells that ${rest} of ${most} are left: ${JSON.stringify(left)}`)
}

const leave = async (scene: Scene, which: number) => {
  const [call] = scene.open.splice(which % Math.max(1, scene.open.length), 1)
  if (call === undefined) return
  const { key, kind, body, flight, sent } = call
  scene.calm = false
  note(scene, 'left')
  flight.leave('left')
  sent.leave()
  await within(flight.closed, 'the provider still answers a caller who left')
  key.tally.requests++
  let used = 0
  // What a stream has given is counted as it was heard.
  if (kind === 'stream' || kind === 'sealed stream') {
    used = body.read + 1
    key.tally.input += body.read
    key.tally.output++
    key.tally.estimated++
  } else key.tally.unanswered++
  for (const token of key.tokens) token.owed(chargeOf(body, token.most) - used)
}

const others: Readonly<
  Record<
    'replay' | 'race' | 'revoke' | 'return' | 'usage',
    (scene: Scene, key: Key, replica: number, which: number) => Promise<void>
  >
> = {
  /** A body that was served, at all replicas at once. */
  async replay(scene, _, __, which) {
    const { key, body } = scene.sealed[which % Math.max(1, scene.sealed.length)] ?? {}
    if (key === undefined || key.tokens.length > 0 || key.revoked !== null) return
    note(scene, 'replayed')
    await sendAll(scene, key, '/rvenc/chat/completions', body!, 0)
  },

  /** One new body at all replicas at once: one of them serves it. */
  async race(scene, key) {
    if (key.tokens.length > 0 || key.requests !== null || key.revoked !== null) return
    await quiet(scene)
    const rooms = boundsOf(scene, key, 'sealed').map(({ name, most }) => most() - scene.stage.provider.held(name))
    if (
      Math.min(
        ...rooms,
        key.concurrent === null ? Infinity : concurrencyOf(key).least - scene.stage.provider.held(names.key(key)),
      ) < 3
    )
      return
    const mark = `${scene.organization}.${++scene.lane.marks}`
    const body = bodyOf({ kind: 'sealed', mark, size: 0, most: 9 }, scene.stage.sealing)
    const flight = scene.stage.provider.expect(mark, boundsOf(scene, key, 'sealed'))
    void flight.arrived.then(() => flight.end({ input: 1, output: 1 }))
    note(scene, 'raced')
    await sendAll(scene, key, body.path, body.json, 1)
    key.tally.requests++
    key.tally.input++
    key.tally.output++
  },

  async revoke(scene, key, replica) {
    if (key.revoked !== null || scene.keys.every((answer) => answer === key || answer.revoked !== null)) return
    if ((await order(scene, replica, 'DELETE', `/admin/keys/${key.id}`)) === null) return
    note(scene, 'revoked')
    key.revoked = { at: Date.now(), replica: replica % 3 }
  },

  /** Somebody who was shown out comes again, everywhere. */
  async return(scene, key, _, which) {
    const gone = scene.lane.past.filter(({ revoked }) => revoked !== null)
    const answer = gone[which % Math.max(1, gone.length)] ?? key
    const { revoked } = answer
    if (revoked === null) return
    note(scene, 'came back revoked')
    const since = Date.now() - revoked.at
    const answers = await Promise.all([0, 1, 2].map((replica) => knock(scene, answer, replica)))
    for (const [replica, status] of answers.entries()) {
      const late = since > known || replica === revoked.replica
      must(status === 401 || !late, () => `replica ${replica} says ${status} to a key ${since} ms after its revocation`)
      if (status === 200) scene.lane.figures.outlived = Math.max(scene.lane.figures.outlived, since)
    }
  },

  /** Never more than the provider served. */
  async usage(scene, { id, tally }, replica) {
    const answer = await order<{ usage: readonly Record<keyof Key['tally'], number>[] }>(
      scene,
      replica,
      'GET',
      `/admin/usage?limit=100&key=${id}`,
    )
    note(scene, 'asked what was used')
    for (const name of Object.keys(tally) as (keyof Key['tally'])[]) {
      const sum = (answer?.usage ?? []).reduce((sum, row) => sum + row[name], 0)
      must(sum <= tally[name], () => `${name} are ${sum} of ${tally[name]} that were used`)
    }
  },
}

/** The same body at every replica at once; all but so many must be refused as seen before. */
const sendAll = async (scene: Scene, key: Key, path: string, body: object, served: number): Promise<void> => {
  const from = Date.now()
  scene.calm = false
  const all = await Promise.all(
    [0, 1, 2].map(async (replica) => {
      const sent = ask(scene, replica, { path, key: key.credential, body })
      const { status } = await within(sent.head, 'a replay is not answered')
      return { status, said: await sent.whole }
    }),
  )
  if (all.some(({ status }) => status === 503)) throw new Disturbed()
  const counted = all.filter(({ said: text }) => !text.includes('Too many requests'))
  key.requests?.taken(counted.length, from, Date.now())
  const [ok, seen] = [200, 400].map((wanted) => all.filter(({ status }) => status === wanted).length)
  must(ok === served, () => `a sealed body is served ${ok} times, not ${served}`)
  const rest = all.filter(({ status }) => status !== 200 && status !== 400 && status !== 429)
  if (rest.length > 0) throw new Broken(`a replay is answered with ${rest[0]!.status}: ${rest[0]!.said}`)
  key.tally.requests += seen!
  key.tally.unanswered += seen!
}

const change = async (scene: Scene, key: Key, replica: number, to: number): Promise<void> => {
  const { concurrent, limits } = key
  if (concurrent === null || key.revoked !== null) return
  const changed = { limits: { ...limits, concurrentRequests: to } }
  if ((await order(scene, replica, 'PATCH', `/admin/keys/${key.id}`, changed)) === null) return
  note(scene, 'changed')
  concurrent.before.push({ most: concurrent.now, until: Date.now() + known })
  concurrent.now = to
}
