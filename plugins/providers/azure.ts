import * as v from 'valibot'
import { BaseUrl } from '../shared/backend.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Log } from '../../core/ports/platform.ts'
import { Upstream, type Model, type TranscribeCall } from '../../core/ports/upstream.ts'
import { modelTypes } from '../../core/settings.ts'
import { chatBackend } from './shared/chat-backend.ts'
import { drawFields, transcriptFormat, typeOf } from './shared/openai-models.ts'
import { RequestChange } from './shared/request-change.ts'
import { ApiSetting, roadsOf } from './shared/responses/roads.ts'
import { oneSignIn } from './shared/one-sign-in.ts'
import { type SignIn, signIn } from './shared/sign-in.ts'
import { signedFetch } from './shared/signed-fetch.ts'

const text = v.pipe(v.string(), v.minLength(1))

const Entra = v.strictObject({
  tenantId: text,
  clientId: text,
  clientSecret: text,
  /** Where the tenant signs in; national clouds have addresses of their own. */
  authority: v.optional(BaseUrl, 'https://login.microsoftonline.com'),
  /** What the token is for; national clouds have scopes of their own. */
  scope: v.optional(text, 'https://cognitiveservices.azure.com/.default'),
})

const signedIn = (ports: { fetch: Fetch; clock: Clock }, entra: v.InferOutput<typeof Entra>): SignIn =>
  signIn(ports, () => ({
    url: `${entra.authority}/${encodeURIComponent(entra.tenantId)}/oauth2/v2.0/token`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: entra.clientId,
      client_secret: entra.clientSecret,
      scope: entra.scope,
    })}`,
  }))

/** Azure OpenAI and the chat models of Microsoft Foundry: deployments of a resource, by its key or by Entra ID. */
export default plugin({
  port: Upstream,
  name: 'azure',
  settings: v.pipe(
    v.strictObject({
      /** The address of the resource, such as `https://NAME.openai.azure.com`. */
      baseUrl: BaseUrl,
      /** A key of the resource; either it or `entra` is needed. */
      apiKey: v.optional(text),
      /** Signs in as an application of Microsoft Entra ID, by client credentials. */
      entra: v.optional(Entra),
      /** The dated interface, such as `2024-10-21`; absent, the v1 interface, which needs no date. */
      apiVersion: v.optional(text),
      /** The deployments by name. The resource itself lists models that could be deployed. */
      deployments: v.optional(
        v.record(
          v.string(),
          v.strictObject({
            /** The model behind the deployment; absent, the deployment has its name. */
            model: v.optional(text),
            /** What the model is for, where its name does not tell. */
            type: v.optional(v.picklist(modelTypes)),
          }),
        ),
        {},
      ),
      /** Which interface deployments are asked by; a dated interface has chat completions alone. */
      api: v.optional(ApiSetting, 'auto'),
      /** What is changed in the body of each chat. */
      request: v.optional(RequestChange),
      voice: v.optional(text, 'alloy'),
    }),
    oneSignIn(({ apiKey, entra }) => (apiKey === undefined) !== (entra === undefined), 'either apiKey or entra'),
  ),
  needs: { fetch: Fetch, clock: Clock, log: Log },
  create: (
    { fetch, clock, log },
    { baseUrl, apiKey, entra, apiVersion, deployments, api, request, voice },
    name,
  ): Upstream => {
    const signed = entra ? signedFetch(fetch, signedIn({ fetch, clock }, entra)) : fetch

    const url = (path: string, model: string | null): string => {
      if (apiVersion === undefined) return `${baseUrl}/openai/v1${path}`
      const place = model === null ? '' : `/deployments/${encodeURIComponent(model)}`
      return `${baseUrl}/openai${place}${path}?api-version=${encodeURIComponent(apiVersion)}`
    }
    const modelOf = (deployment: string): string => deployments[deployment]?.model ?? deployment
    const listed = Object.entries(deployments).map(([id, { model, type }]): Model => ({
      id,
      type: type ?? typeOf(model ?? id),
    }))

    const backend = chatBackend({
      fetch: signed,
      clock,
      baseUrl,
      headers: apiKey === undefined ? {} : { 'api-key': apiKey },
      url,
      request,
      roads: roadsOf({ clock, log }, name, apiVersion === undefined ? api : 'chat', modelOf),
      transcriptFormat: (call: TranscribeCall) => transcriptFormat({ ...call, model: modelOf(call.model) }),
      drawFields: (model) => drawFields(modelOf(model)),
      voice,
      modelOf: ({ id }) => (typeof id === 'string' ? { id, type: typeOf(id) } : null),
    })
    return {
      name,
      ...backend,
      async models(signal) {
        const deployable = await backend.models(signal)
        return listed.length > 0 ? listed : deployable
      },
    }
  },
})
