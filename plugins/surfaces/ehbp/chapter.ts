import type { Chapter } from '../../../core/ports/chapter.ts'
import { userHeader } from '../../shared/sealed-user.ts'

export const chapter: Chapter = {
  name: 'EHBP',
  about:
    'Clients of the Encrypted HTTP Body Protocol, such as the packages `ehbp` and `tinfoil`, chat with the enclave. Their base ' +
    'URL ends with `/ehbp/v1`. `docs/ehbp.md` says where this protocol is weaker than the sealed routes.',
  words: {},
  operations: {
    'GET /.well-known/hpke-keys': {
      about: 'X25519 first, then X-Wing. The evidence of `GET /rvenc/attestation` is about the same keys.',
      types: { 'application/ohttp-keys': 'Key configurations of RFC 9458, without a length before each.' },
      statuses: [404, 503],
    },
    'POST /ehbp/v1/chat/completions': {
      about:
        'The sealed text is a request of the common chat format. An unknown key is refused with 422, so that a client asks for ' +
        'the keys anew.',
      asks: {
        'ehbp-encapsulated-key': 'The encapsulated key of HPKE, as hex.',
        [userHeader]: 'The end user of the call, in the clear, for windows of `endUser`: a pseudonym.',
      },
      types: {
        'application/json': 'Sealed chunks of one answer, each after its length.',
        'text/event-stream': 'With a sealed `stream`: sealed chunks of events.',
      },
      statuses: [404, 502],
    },
  },
}
