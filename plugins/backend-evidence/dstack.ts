import { plugin } from '../../core/plugin.ts'
import { BackendEvidence } from '../../core/ports/backend-evidence.ts'
import { toHex } from '../sealed/wire/bytes.ts'
import { sealedFields } from './shared/sealed-fields.ts'

/** dstack, as Phala and others run it: a proxy that serves a model. Texts of chats are sealed one by one. */
export default plugin({
  port: BackendEvidence,
  name: 'dstack',
  create: (): BackendEvidence => ({
    kind: 'dstack',
    service: 'dstack',
    place: (nonce) => `/v1/attestation/report?include_tls_fingerprint=true&nonce=${toHex(nonce)}&signing_algo=ed25519`,
    sealed: sealedFields,
  }),
})
