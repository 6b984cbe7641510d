import * as v from 'valibot'
import { BaseUrl } from '../shared/base-url.ts'
import { plugin } from '../../core/plugin.ts'
import { Fetch } from '../../core/ports/platform.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import { sealedBackend } from './sealed/backend.ts'

/** The enclave of another gateway: each call is sealed here, so that gateway carries ciphertext alone. */
export default plugin({
  port: Upstream,
  name: 'sealed',
  settings: v.strictObject({
    /** The other gateway, without a path. */
    baseUrl: BaseUrl,
    /** A key of the other gateway. */
    apiKey: v.pipe(v.string(), v.minLength(1)),
    /** What the enclave must prove, in the form of a client's policy. */
    policy: v.optional(v.looseObject({}), {}),
    /** Takes an enclave of development, which proves nothing. */
    allowInsecureDev: v.optional(v.boolean(), false),
    /** Sealed streams that the key may have open there; further streams wait. */
    streams: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
  }),
  needs: { fetch: Fetch },
  create: ({ fetch }, settings, name): Upstream => sealedBackend(fetch.upstream, settings, name),
})
