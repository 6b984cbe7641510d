import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { connect } from '../../../plugins/sealed/client/client.ts'
import { modes } from '../../fakes/agent.ts'
import { program } from '../../fakes/served.ts'
import { above, contest } from './contest.ts'
import { start } from './measure.ts'
import { paceOf } from './pace-of.ts'
import { toldAbove } from './told.ts'

const key = `sk_live_${'M'.repeat(44)}`
const calls = 30
/** Ms that a call by the command may take beside its sealing. */
const asked = 5

/** A client of the command `sealgate mcp`, as agents start it. */
const agentOf = async (base: string, mode: (typeof modes)[string]) => {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode } })
  const args = [program, 'mcp', '--base-url', base, '--allow-insecure-dev']
  const env = { PATH: process.env['PATH'] ?? '', SEALGATE_KEY: key }
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }))
  return client
}

/** A sealed tool by `sealgate mcp` beside the same call by `sealgate/client` in this process. */
export const mcp = async (): Promise<readonly string[]> => {
  const subject = await start('sealgate-sealed', { UPSTREAM: 'http://127.0.0.1:1', KEYS: key })
  const own = connect({ baseUrl: subject.base, apiKey: key, policy: { allowInsecureDev: true } })
  const agents = await Promise.all(
    Object.entries(modes).map(async ([revision, mode]) => [revision, await agentOf(subject.base, mode)] as const),
  )
  const params = { timezone: 'UTC' }
  try {
    const rounds = agents.map(([revision, agent]) => {
      const call = async () => {
        const { isError } = await agent.callTool({ name: 'getTime', arguments: params })
        if (isError === true) throw new Error('the tool failed')
      }
      return [revision, paceOf(call, calls)] as const
    })
    const standings = await contest(
      paceOf(() => own.tools.call('getTime', params), calls),
      Object.fromEntries(rounds),
      above(1),
    )
    return Object.entries(standings).map(([revision, standing]) =>
      toldAbove(`a call by sealgate mcp, ${revision}`, standing, asked, 'by sealgate/client'),
    )
  } finally {
    await Promise.all(agents.map(([, agent]) => agent.close()))
    await subject.stop()
  }
}
