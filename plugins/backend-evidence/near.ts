import { plugin } from '../../core/plugin.ts'
import { BackendEvidence } from '../../core/ports/backend-evidence.ts'
import { toHex } from '../sealed/wire/bytes.ts'
import { sealedFields } from './shared/sealed-fields.ts'

/** NEAR: a model on dstack with a manager of its own, reached directly. Texts of chats are sealed one by one. */
export default plugin({
  port: BackendEvidence,
  name: 'near',
  create: (): BackendEvidence => ({
    kind: 'near',
    service: 'near',
    place: (nonce) => `/v1/attestation/report?include_tls_fingerprint=true&nonce=${toHex(nonce)}&signing_algo=ed25519`,
    sealed: sealedFields,
  }),
})
