/** What each check of evidence says when it holds, by the name that the verifier gives it. */
const words: Readonly<Record<string, string>> = {
  type: 'The policy takes this kind of hardware.',
  parse: 'The evidence stands in its one form.',
  certificates: 'The certificates lead to the pinned root of the maker.',
  revocation: 'The lists of the maker are current, and revoke none of the certificates.',
  endorsement: 'The certificate belongs to this chip and its patch level.',
  signature: 'The hardware signed this report.',
  'patch level': 'The firmware is as new as the policy demands.',
  'platform data': 'The maker signed the data about this platform.',
  status: 'The maker calls the patch level current, or the policy names an exception.',
  machine: 'The machine cannot be debugged, and each of its settings is allowed.',
  platform: 'The policy takes this product.',
  age: 'The document was made a moment ago.',
  'user data': 'The document carries the keys of the enclave.',
  notices: 'The signed notices are current.',
  releases: 'Enough pinned keys signed the list of releases.',
  memory: 'No list is older than one that was seen before.',
  measurement: 'The policy or the list names the code that runs.',
  release: 'The release is known, and was not withdrawn.',
  machines: 'Enough pinned keys signed the list of enrolled machines.',
  image: 'A pinned list of the service names the image that runs.',
  document: 'The document of the service stands in its one form.',
  nonce: 'Each machine answers the nonce of this question.',
  'tls key': 'The document names the key of this TLS connection.',
  gpu: 'The maker of the graphics processors confirms their state.',
  'report data': 'The report is about these keys, and answers the challenge of this tab.',
}

/** The plain words of a check; its name where it has none. */
export const checkWords = (id: string): string => (Object.hasOwn(words, id) ? (words[id] ?? id) : id)
