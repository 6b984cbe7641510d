import { createServer } from 'node:http'
import { exportJWK } from 'jose'
import Provider from 'oidc-provider'
import type { Test } from 'tap'
import { type IssuerKey, issuerKey } from './issuer.ts'
import { listening } from './listening.ts'

export const client = 'console'
export const clientSecret = 'a-secret-of-the-console'
export const audience = 'https://sealgate.example'

const resources = (alg: string) => ({
  enabled: true,
  useGrantedResource: () => true,
  getResourceServerInfo: () => ({
    ...{ scope: 'models.read api_key.read', audience, accessTokenFormat: 'jwt', accessTokenTTL: 600 },
    jwt: { sign: { alg } },
  }),
})

interface Context {
  readonly oidc: { readonly provider: Provider; readonly session: { readonly accountId: string } }
}

/** A real issuer that lets `ada` in without a question, and sends her back to one address alone. */
export const loginIssuer = async (
  t: Test,
  redirect: string,
): Promise<{ readonly url: string; readonly key: IssuerKey }> => {
  const key = await issuerKey('RS256', 'of the login')
  const server = createServer((request, response) => serve(request, response))
  const { port } = await listening(t, server, '127.0.0.1')
  // Another host than the gateway's: cookies know no ports.
  const url = `http://localhost:${port}`
  const provider: Provider = new Provider(url, {
    jwks: { keys: [{ ...key.jwk, ...(await exportJWK(key.privateKey)) }] },
    clients: [{ client_id: client, client_secret: clientSecret, redirect_uris: [redirect] }],
    extraTokenClaims: () => ({ groups: ['staff'] }),
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }: Context) {
      const grant = new oidc.provider.Grant({ clientId: client, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid')
      grant.addResourceScope(audience, 'models.read api_key.read')
      await grant.save()
      return grant
    },
    features: { devInteractions: { enabled: false }, resourceIndicators: resources(key.alg) },
  })
  const answer = provider.callback()
  const serve: typeof answer = (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response)
    void provider
      .interactionFinished(request, response, { login: { accountId: 'ada' } })
      .catch(() => response.destroy())
  }
  return { url, key }
}
