declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  /** What a person agreed to. */
  interface Grant {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }

  /** As much of the package as a test uses. */
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
    /** Sends the browser on with what a person did. */
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
    readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => Grant
  }
}
