// The ready-made server in code, to copy and change: `sealgate serve` goes the same road with a configuration file.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createGateway } from 'sealgate'
import { use } from 'sealgate/plugin'
import rehearsal from 'sealgate/plugins/providers/rehearsal'
import useLite from 'sealgate/plugins/providers/use-lite'
import files from 'sealgate/plugins/storage/fs'
import rows from 'sealgate/plugins/storage/sqlite'
import { fromConfig } from 'sealgate/production'

const data = process.env['SEALGATE_DATA'] ?? './data'

// Clock, network, log, limits, tools and the confidential process, with every default filled in.
const base = await fromConfig({ env: 'development', providers: { rehearsal: { use: 'rehearsal' } } }, { data })

const gateway = createGateway({
  ...base,
  // Each of these may be another one, of `sealgate/plugins/…` or of your own.
  metadataStore: use(rows, { file: join(data, 'sealgate.db') }),
  blobStore: use(files, { folder: join(data, 'blobs') }),
  upstreams: [use(rehearsal), use(useLite)],
  settings: { ...base.settings, surfaces: ['v1', 'decision', 'chat', 'rvenc', 'tools', 'files', 'index', 'admin'] },
})

const server = gateway.server()
server.listen(Number(process.env['PORT'] ?? 8787), process.env['HOST'] ?? '127.0.0.1')
await once(server, 'listening')
const { address, port } = server.address() as AddressInfo
console.log(`serving http://${address}:${port}; sealgate keys create makes a key`)

await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
server.close()
await gateway.drain(10_000)
server.closeAllConnections()
await gateway.close()
process.exit()
