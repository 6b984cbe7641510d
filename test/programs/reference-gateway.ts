import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { PostgresServer } from '../fakes/postgres.ts'
import { backend } from '../contracts/stage.ts'
import { freePort } from '../fakes/listening.ts'
import { until } from '../until.ts'
import type { Installed } from './installed.ts'

/** A place where nobody signs in; the gateway asks it for its endpoints when it starts. */
const signIn = async (t: Test): Promise<string> => {
  const recorded = await backend(t, () => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      issuer: recorded.url,
      authorization_endpoint: `${recorded.url}/authorize`,
      token_endpoint: `${recorded.url}/token`,
      jwks_uri: `${recorded.url}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
  }))
  return recorded.url
}

/** What the gateway in the program says that it and the program keep: its `GET /protocol`. */
export const ownProtocol = async (t: Test, installation: Installed, { url }: PostgresServer): Promise<string> => {
  const { home } = await installation.home('gateway', '')
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const config = {
    listen: { host: '127.0.0.1', port, public_url: base },
    oidc: { issuer: await signIn(t), client_id: 'a', client_secret: 'b', allowed_email_domains: ['example.org'] },
    session: { jwt_secret: 'a'.repeat(64) },
    store: { postgres_url: url },
    upstreams: [{ provider: 'anthropic', auth: { api_key: 'k' } }],
  }
  // What is JSON is YAML too.
  await writeFile(join(home, 'gateway.yaml'), JSON.stringify(config))
  const child = spawn(installation.bin, ['gateway', '--config', join(home, 'gateway.yaml')], {
    cwd: home,
    env: { ...installation.environment(home), CLAUDE_GATEWAY_ALLOW_LOOPBACK: '1' },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  try {
    let text = ''
    const isTold = () =>
      fetch(`${base}/protocol`).then(
        async (answer) => answer.ok && (text = await answer.text()) !== '',
        () => false,
      )
    if (!(await until(isTold, 120_000, 100))) throw new Error('The gateway in the program tells no protocol')
    return text
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}
