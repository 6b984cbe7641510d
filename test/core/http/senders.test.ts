import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import t from 'tap'
import { senderOf } from '../../../core/http/caller-address.ts'
import { capped } from '../../../core/http/connections.ts'
import { inTurn } from '../../../core/http/in-turn.ts'
import { fakeClock } from '../../fakes/clock.ts'
import { until } from '../../until.ts'

/** The socket of a caller at an address. */
class CallerSocket extends EventEmitter {
  readonly remoteAddress: string
  destroyed = false

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

t.test('a network of IPv6 is one sender, however its addresses are spelled', (t) => {
  const ofOne = ['2001:db8::1', '2001:db8::a:b:c:d', '2001:db8:0:0:1::', '2001:db8::1:0:0:9', '2001:db8::2:3:4%eth0']
  t.same(new Set(ofOne.map(senderOf)), new Set([senderOf('2001:db8::')]))
  const others = ['2001:db8:0:1::1', '2001:db8:1::1', '2001:db9::1', '::1', '192.0.2.1', '192.0.2.2']
  t.equal(new Set([...others, '2001:db8::1'].map(senderOf)).size, others.length + 1)
  t.equal(senderOf('::1'), senderOf('::2:0:0:3'))
  t.equal(senderOf('192.0.2.1'), '192.0.2.1')
  t.end()
})

t.test('connections without a key count together for a network of IPv6', (t) => {
  const server = new EventEmitter() as unknown as Server
  capped(server, { most: 100, keyless: 2, head: 15_000, chunks: 'own' }, [])
  const come = (address: string) => {
    const socket = new CallerSocket(address)
    server.emit('connection', socket as never)
    return socket
  }
  const first = come('2001:db8::1')
  t.notOk(come('2001:db8::2:3:4:5').destroyed)
  t.ok(come('2001:db8::9').destroyed, 'a third connection of the network')
  t.notOk(come('2001:db8:0:1::9').destroyed, 'a connection of another network')
  first.destroy()
  t.notOk(come('2001:db8::9').destroyed, 'a connection after one has ended')
  t.end()
})

t.test('a caller waits behind one request of a network of IPv6, not behind one of each address', async (t) => {
  const begun: string[] = []
  const listener = inTurn((request) => void begun.push(request.socket.remoteAddress!), fakeClock())
  const comes = (address: string) => {
    const socket = new CallerSocket(address)
    listener({ socket } as unknown as IncomingMessage, { socket } as unknown as ServerResponse)
  }
  const known = 64
  for (let at = 0; at < known + 40; at++) comes(`2001:db8::${at.toString(16)}:1:2:3`)
  comes('192.0.2.1')
  await until(() => begun.length === known + 41)
  const place = begun.indexOf('192.0.2.1') - known
  t.ok(place <= 2, `the request from elsewhere is number ${place} of those that waited`)
})
