declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  /** As much of the package as a test uses. */
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
  }
}
