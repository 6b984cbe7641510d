// A server of the official SDK on standard input and output. It tells who it is, what it finds, and what it can reach.
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

console.log('A program that greets people')
const self = randomUUID()
let calls = 0
const tools = {
  who: () => ({ user: process.getuid(), self, env: Object.keys(process.env).sort(), calls: ++calls }),
  reach: ({ port }) =>
    new Promise((resolve) =>
      connect(port, '127.0.0.1')
        .on('connect', () => resolve('reached'))
        .on('error', ({ code }) => resolve(code)),
    ),
  babble: () => console.log({ called: ['babble', undefined] }) ?? 'said',
  end: () => process.exit(1),
  sleep: () => new Promise(() => {}),
  shout: () => process.stdout.write('x'.repeat(5 * 1024 * 1024)),
}

const server = new Server({ name: 'program', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler('tools/list', async () => ({
  tools: Object.keys(tools).map((name) => ({ name, description: `Plays ${name}`, inputSchema: { type: 'object' } })),
}))
server.setRequestHandler('tools/call', async ({ params }) => ({
  content: [{ type: 'text', text: JSON.stringify(await tools[params.name](params.arguments ?? {})) }],
}))
await server.connect(new StdioServerTransport())
