import { once } from 'node:events'
import { opcodes, rawPeer, type RawPeer } from '../fakes/web-sockets.ts'
import type { Stage } from '../lab/hunt/stage.ts'
import { until } from '../until.ts'
import { type Scene, mebibyte } from './scene.ts'
import { unknownKeys } from './besieged.ts'

/** Plays on connections of its own, which end with the scene; how many of them the gateway left open is counted. */
const onPeers = (
  name: string,
  count: number,
  most: number,
  act: (peer: RawPeer) => Promise<number>,
  memory?: number,
): Scene => ({
  name,
  ...(memory !== undefined && { memory }),
  async play(stage: Stage) {
    const ends: (() => void)[] = []
    const peers = Array.from({ length: count }, () => rawPeer({ teardown: (end) => ends.push(end) }, stage))
    await Promise.all(peers.map(({ status }) => status()))
    const sent = await Promise.all(peers.map(act))
    await until(() => peers.filter(({ isClosed }) => !isClosed()).length <= most, 10_000)
    const left = peers.filter(({ isClosed }) => !isClosed()).length
    for (const end of ends) end()
    return {
      sent: sent.reduce((sum, value) => sum + value, 0),
      figures: [{ name: 'connections left', value: left, most }],
    }
  },
})

const turn = (input: string): string => `{"type":"response.create","model":"chatting","input":"${input}"}`

/** A conversation that the connection remembers; no model is called. */
const remembered = (input: string): string =>
  `{"type":"response.create","model":"chatting","generate":false,"input":"${input}"}`

const completed = (peer: RawPeer): number =>
  peer.all().toString('latin1').split('"type":"response.completed"').length - 1

export const webSockets: readonly Scene[] = [
  onPeers('messages of 20 MB on each of four WebSockets', 4, 4, async (peer) => {
    const message = remembered('x'.repeat(20 * mebibyte))
    peer.send(opcodes.text, message)
    await until(() => completed(peer) > 0 || peer.isClosed(), 20_000)
    return message.length
  }),
  onPeers(
    'short turns on a WebSocket with a conversation of 20 MB',
    1,
    1,
    async (peer) => {
      const message = remembered('x'.repeat(20 * mebibyte))
      peer.send(opcodes.text, message)
      for (let turns = 1; turns <= 10; turns++) {
        await until(() => completed(peer) >= turns, 20_000)
        const id = /.*"id":"(resp_[^"]+)"/s.exec(peer.all().toString('latin1'))?.[1]
        const next = {
          type: 'response.create',
          model: 'chatting',
          generate: false,
          input: [],
          previous_response_id: id,
        }
        peer.send(opcodes.text, JSON.stringify(next))
      }
      return message.length
    },
    128 * mebibyte,
  ),
  onPeers('a WebSocket with 95,000 unknown keys in a turn', 1, 1, async (peer) => {
    const message = `{"type":"response.create","model":"chatting","input":"a",${unknownKeys}}`
    peer.send(opcodes.text, message)
    await until(() => peer.all().length > 300)
    return message.length
  }),
  onPeers('1,000 turns at once on each of ten WebSockets', 10, 0, async (peer) => {
    for (let at = 0; at < 1_000; at++) peer.send(opcodes.text, turn('a'))
    return 1_000 * turn('a').length
  }),
  onPeers('pings on ten WebSockets whose answers nobody reads', 10, 0, async (peer) => {
    peer.socket.pause()
    const all = 200_000
    for (let at = 0; at < all && !peer.socket.destroyed; at++)
      if (!peer.send(opcodes.ping, 'x'.repeat(125)))
        await Promise.race([once(peer.socket, 'drain').catch(() => null), until(peer.isClosed)])
    return 8 * mebibyte
  }),
]
