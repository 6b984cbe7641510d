import { readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { memory } from '../../../../adapters/memory/index.ts'
import { createGateway } from '../../../../core/gateway.ts'
import { use } from '../../../../core/plugin.ts'
import fs from '../../../../plugins/storage/fs.ts'
import sqlite from '../../../../plugins/storage/sqlite.ts'

const folder = process.env['FOLDER']!
const gateway = createGateway(
  {
    ...memory(),
    blobStore: use(fs, { folder: `${folder}/blobs` }),
    metadataStore: use(sqlite, { file: `${folder}/rows.db` }),
  },
  { bodies: { file: 128 * 1024 * 1024 } },
)
await gateway.keys.create({}, process.env['KEY']!)
const server = gateway.server()
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))

const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
const kilobytes = (field: string): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))![1])
let idle = 0

process.on('message', (question) => {
  if (question === 'watch') {
    globalThis.gc?.()
    writeFileSync('/proc/self/clear_refs', '5')
    idle = kilobytes('VmRSS')
    delay.reset()
    process.send!(0)
  }
  if (question === 'delay') process.send!(delay.max / 1e6)
  if (question === 'peak') process.send!((kilobytes('VmHWM') - idle) * 1024)
  if (question === 'cpu') {
    const { user, system } = process.cpuUsage()
    process.send!(user + system)
  }
})
