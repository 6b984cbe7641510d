import { exportJWK, generateKeyPair, type JWK, SignJWT, type JWTHeaderParameters } from 'jose'
import type { Test } from 'tap'
import { fetch } from '../../adapters/production/platform.ts'
import { issuerKeys } from '../../plugins/credentials/oidc/issuer-keys.ts'
import { Logins, logins } from '../../plugins/credentials/oidc/logins.ts'
import { Lifecycle } from '../../core/lifecycle.ts'
import { use } from '../../core/plugin.ts'
import { Clock, Log, type LogFacts } from '../../core/ports/platform.ts'
import { settingsCheck } from '../../core/generations/generations.ts'
import { parts } from '../../adapters/memory/parts.ts'
import { Settings, type SettingsInput } from '../../core/settings.ts'
import { given, made } from '../fitted.ts'
import { fakeClock } from './clock.ts'
import { recorded, type Take } from './recorded.ts'

export type IssuerInput = NonNullable<SettingsInput['issuers']>[string]

/** A key of an issuer: it signs tokens, and shows its public half. */
export const issuerKey = async (alg: string, kid: string) => {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }
  return { alg, kid, privateKey, jwk }
}
export type IssuerKey = Awaited<ReturnType<typeof issuerKey>>

/** Seconds. */
const inSeconds = (ms: number): number => Math.floor(ms / 1000)

export const issued = (now: number, more: object = {}) => ({
  iss: 'https://login.example',
  aud: 'sealgate',
  sub: 'ada',
  iat: inSeconds(now),
  exp: inSeconds(now) + 600,
  ...more,
})

export const signed = (key: IssuerKey, claims: object, header: Partial<JWTHeaderParameters> = {}): Promise<string> =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
    .sign(key.privateKey)

/** What looks at tokens, with an issuer of keys at the socket and a clock that stands. */
export const house = async (t: Test, shown: IssuerKey[], issuer: Partial<IssuerInput> = {}) => {
  let play: () => Take = () => ({ body: JSON.stringify({ keys: shown.map(({ jwk }) => jwk) }) })
  const server = await recorded(() => play())
  t.teardown(() => server.close())
  const logged: { readonly event: string; readonly facts: LogFacts }[] = []
  const note = (event: string, facts: LogFacts = {}) => void logged.push({ event, facts })
  const clock = fakeClock()
  const closing = new AbortController()
  t.teardown(() => closing.abort())
  const lifecycle: Lifecycle = { draining: closing.signal, held: 0, closing: closing.signal }
  const own: IssuerInput = {
    issuer: 'https://login.example',
    keys: `${server.url}/keys`,
    audience: 'sealgate',
    grants: [{ organization: 'acme' }],
    ...issuer,
  }
  const settings = settingsCheck(parts).check({ issuers: { company: own } })
  const identity = made(
    Logins,
    use(logins),
    use(issuerKeys),
    use(fetch),
    given(Clock, 'clock', () => clock),
    given(Log, 'log', () => ({ info: note, warn: note, error: note })),
    given(Lifecycle, 'lifecycle', () => lifecycle),
    given(Settings, 'settings', () => settings),
  )
  return {
    logins: identity,
    clock,
    asked: server.asked,
    logged,
    /** Why tokens were refused. */
    reasons: () => logged.filter(({ event }) => event === 'login.refused').map(({ facts }) => facts['reason']),
    answers: (take: () => Take) => void (play = take),
  }
}
