import type { Changes } from './mutation.ts'

const opening = 'test/core/sealed/enclave/opening.test.ts'
const tool = 'test/core/sealed/enclave/tool.test.ts'
const chunks = 'test/core/inference/collect-chunks.test.ts'

export const sealed: readonly Changes[] = [
  {
    file: 'core/sealed/enclave/frame-pacing.ts',
    test: 'test/sealed-streams.test.ts',
    changes: [
      {
        breaks: 'No chunk is longer than a frame.',
        from: 'if (size > mostChunkBytes) {',
        to: 'if (size < 0) {',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/short-chunks.ts',
    test: 'test/sealed-streams.test.ts',
    changes: [
      {
        breaks: 'Members that nobody knows take no frame from the text.',
        from: 'if (fits(known)) return [known]',
        to: '',
      },
      {
        breaks: 'A text comes apart between its characters.',
        from: 'if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1',
        to: '',
      },
      {
        breaks: 'A chunk that is long by anything but text ends its stream.',
        from: 'if (!chunks.every(fits)) throw tooLong()',
        to: '',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/open.ts',
    test: opening,
    changes: [
      {
        breaks: 'A request names its route.',
        from: 'requireBinding && params !== null : bound !== route',
        to: 'false : bound !== route',
      },
      { breaks: 'A request of another route is refused.', from: ': bound !== route\n', to: ': false\n' },
      {
        breaks: 'A request that was opened once is never opened again.',
        from: "  if (entered === 'seen') throw new BadRequest(undecryptable)\n",
        to: '',
      },
      {
        breaks: 'A ciphertext is entered as seen.',
        from: 'const entries = [cipherText, ...',
        to: 'const entries = [...',
      },
      {
        breaks: 'A request that its caller seals anew is opened once.',
        from: "...(typeof id === 'string' ? [",
        to: "...(typeof id === 'number' ? [",
      },
      {
        breaks: 'A request with too long parameters is entered as seen.',
        from: '    enter(epochs, key, cipherText)\n    throw',
        to: '    throw',
      },
      {
        breaks: 'Sealed parameters are bounded.',
        from: 'plain.length > (outer.mostParams ?? Infinity)',
        to: 'plain.length > Infinity',
      },
      {
        breaks: 'A bound of parameters is that of the tool.',
        from: 'plain.length > (outer.mostParams ?? Infinity)',
        to: 'plain.length >= (outer.mostParams ?? Infinity)',
      },
      {
        breaks: 'One nonce never serves two parts.',
        from: 'if (sharesNonce([...(params === null ? [] : [{ nonce, bytes: params }]), ...parts]))',
        to: 'if (sharesNonce([]))',
      },
      {
        breaks: 'The same sealed key may come twice.',
        from: 'before !== undefined && !same(before, bytes)',
        to: 'before !== undefined',
      },
      {
        breaks: 'A key encapsulation that is switched off opens nothing.',
        from: 'const candidates = epochs.candidates(kem)',
        to: 'const candidates = epochs.candidates(kem) ?? []',
      },
      {
        breaks: 'A request opens under the key that it names.',
        from: 'candidates.filter((key) => key.kid === kid)',
        to: 'candidates',
      },
      { breaks: 'Sealed JSON is an object.', from: ' || Array.isArray(json)) throw', to: ') throw' },
      {
        breaks: 'A part that does not open ends the request.',
        from: '    if (plain === null) return null\n    opened[field]',
        to: '    if (plain === null) continue\n    opened[field]',
      },
      {
        breaks: 'The answer tells its status to callers that ask.',
        from: 'named: asks === true ? route : null',
        to: 'named: asks ? route : null',
      },
      {
        breaks: 'A refusal of long parameters tells its status to callers that ask.',
        from: 'named: endsAsking(plain) ? route : null',
        to: 'named: route',
      },
      {
        breaks: 'What binds a request is none of its parameters.',
        from: ': said, secret, nonce',
        to: ': (json as never), secret, nonce',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/epochs.ts',
    test: opening,
    changes: [
      {
        breaks: 'A key that is over opens nothing.',
        from: 'const grace = 10 * minute',
        to: 'const grace = 60 * minute',
      },
      {
        breaks: 'An old key opens for ten minutes.',
        from: 'const grace = 10 * minute',
        to: 'const grace = 0 * minute',
      },
      {
        breaks: 'The next key is published ten minutes ahead.',
        from: 'const ahead = 10 * minute',
        to: 'const ahead = 0 * minute',
      },
      {
        breaks: 'A key that is over is published no more.',
        from: 'const open = this.#epochs.filter(({ notAfter }) => now < notAfter)',
        to: 'const open = this.#epochs.filter(({ notAfter }) => now < notAfter + grace)',
      },
      {
        breaks: 'A request is not served again under the next key.',
        from: "return others.some((epoch) => epoch.replay.has(...items)) ? 'seen' : replay.enter(...items)",
        to: 'void others\n    return replay.enter(...items)',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/replay.ts',
    test: opening,
    changes: [
      { breaks: 'A full table refuses.', from: 'if (used + tags.length >= size)', to: 'if (used > 2 * size)' },
      {
        breaks: 'What was seen never passes.',
        from: 'tags.length < items.length || tags.some((tag) => holds(slots, tag))',
        to: 'tags.length < items.length',
      },
      { breaks: 'Equal items of one request are seen.', from: 'tags.length < items.length || tags', to: 'tags' },
      { breaks: 'A closed table takes nothing.', from: "      if (closed) return 'full'\n", to: '' },
    ],
  },
  {
    file: 'core/sealed/enclave/tool.ts',
    test: opening,
    changes: [
      {
        breaks: 'Tools are never sealed by elliptic curves alone.',
        from: "{ field: 'cipherText', check: checks.lasting }",
        to: "{ field: 'cipherText', check: checks.cipherText }",
      },
    ],
  },
  {
    file: 'core/sealed/enclave/index-request.ts',
    test: opening,
    changes: [
      {
        breaks: 'Keys of an index are never sealed by elliptic curves alone.',
        from: 'check: checks.lasting }',
        to: 'check: checks.cipherText }',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/open-stored-file.ts',
    test: opening,
    changes: [
      {
        breaks: 'A key that was sealed for one file opens no other.',
        from: 'same(it.name, utf8(fileId))',
        to: 'it.name.length > 0',
      },
      {
        breaks: 'A key for a file serves nothing else.',
        from: 'fileId !== null && same',
        to: 'fileId === null || same',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/open-stored-file.ts',
    test: tool,
    changes: [
      {
        breaks: 'A tool gets the size that the caller vouches for.',
        from: ' || (stored !== null && stored.size !== record.size)',
        to: '',
      },
      { breaks: 'A file above the limit is never fetched.', from: 'record.size > most || ', to: '' },
      {
        breaks: 'A tool gets the bytes that the caller vouches for.',
        from: 'if (!same(hash.digest(), stored.hash)) throw',
        to: 'if (hash.digest().length === 0) throw',
      },
      {
        breaks: 'Content is checked before it is read.',
        from: 'stored === null ? found : vouched(found, stored)',
        to: 'found',
      },
      { breaks: 'Room for a file is given back.', from: '    leave()\n', to: '    void leave\n' },
      {
        breaks: 'Content is never longer than its record says.',
        from: 'if (size + part.length > most) throw',
        to: 'if (size + part.length < 0) throw',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/tool.ts',
    test: tool,
    changes: [
      {
        breaks: 'A result is measured in bytes.',
        from: 'if (json.length > mostResult)',
        to: 'if (JSON.stringify(result ?? null).length > mostResult)',
      },
      {
        breaks: 'A result is bounded.',
        from: "    if (json.length > mostResult) throw new Refusal('too_large')\n",
        to: '',
      },
      {
        breaks: 'A result of exactly the limit is told.',
        from: 'json.length > mostResult',
        to: 'json.length >= mostResult',
      },
      {
        breaks: 'What a tool does not find is a file.',
        from: "  if (error instanceof NotFound) return new Refusal('unknown_file')\n",
        to: '',
      },
      {
        breaks: 'The answer says the hash of what is stored.',
        from: '      hash.update(part)\n      size += part.length\n      yield part',
        to: '      size += part.length\n      yield part',
      },
      {
        breaks: 'What is stored is told to callers that ask.',
        from: '...(asker.named !== null && told())',
        to: '...told()',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/reply.ts',
    test: tool,
    changes: [
      { breaks: 'A sealed answer says its route.', from: '{"$for":${JSON.stringify(named)},', to: '{"$for":"",' },
      {
        breaks: 'A sealed answer says whether it is a result.',
        from: '"$status":"${status}"',
        to: '"$status":"result"',
      },
      {
        breaks: 'A fault that nobody knows is told as unavailable.',
        from: "!(error instanceof GatewayError)) return 'unavailable'",
        to: "!(error instanceof GatewayError)) return 'refused'",
      },
      {
        breaks: 'A file that can not be read is told as such.',
        from: "  if (error instanceof Unreadable) return 'unreadable_file'\n",
        to: '',
      },
      {
        breaks: 'A failure has the status of its code.',
        from: "return { kind: 'body', status, body:",
        to: "return { kind: 'body', status: 200, body:",
      },
    ],
  },
  {
    file: 'core/sealed/enclave/index-file.ts',
    test: tool,
    changes: [
      {
        breaks: 'A row opens in its own file alone.',
        from: 'concat(utf8(fileId), number(row, 4), number(rows, 4))',
        to: 'concat(number(row, 4), number(rows, 4))',
      },
      {
        breaks: 'A row opens at its own place alone.',
        from: 'concat(utf8(fileId), number(row, 4), number(rows, 4))',
        to: 'concat(utf8(fileId), number(rows, 4))',
      },
      {
        breaks: 'An index opens with all its rows alone.',
        from: 'concat(utf8(fileId), number(row, 4), number(rows, 4))',
        to: 'concat(utf8(fileId), number(row, 4))',
      },
      {
        breaks: 'Nothing stands behind an index.',
        from: 'return at === index.length ? rows : null',
        to: 'return rows',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/merge-chunks.ts',
    test: chunks,
    changes: [
      {
        breaks: 'A field of a chunk sets no prototype.',
        from: "filter(([name]) => name !== '__proto__')",
        to: 'filter(() => true)',
      },
      {
        breaks: 'Counts of a chunk are kept.',
        from: 'usage: other.usage ?? one.usage ?? null',
        to: 'usage: other.usage ?? null',
      },
      { breaks: 'Texts of two chunks are joined.', from: 'delta[name] = before + value', to: 'delta[name] = value' },
      {
        breaks: 'Choices of two chunks stay apart.',
        from: 'if (known === undefined) choices.push(choice)',
        to: 'if (known === undefined) choices[0] = joined(choices[0] ?? choice, choice)',
      },
    ],
  },
  {
    file: 'core/sealed/client/verify.ts',
    test: 'test/core/sealed/policy.test.ts',
    changes: [
      {
        breaks: 'Development evidence is taken where the policy says so alone.',
        from: "    if (allowInsecureDev !== true) throw new SealgateError('insecure')\n",
        to: '',
      },
      {
        breaks: 'Development evidence is signed by the published key.',
        from: ' || !ed25519.verify(signature, wanted, devKey)',
        to: '',
      },
      { breaks: 'A machine that anybody may look into is not trusted.', from: '    !said.debug &&\n', to: '' },
      { breaks: 'Evidence is for this keyset and challenge.', from: '    same(said.reportData, wanted) &&\n', to: '' },
      {
        breaks: 'A measurement that the policy lacks is not trusted.',
        from: '(policy.measurements ?? []).includes(said.measurement.toLowerCase())',
        to: 'said.measurement !== ""',
      },
      {
        breaks: 'Without measurements nothing is trusted.',
        from: '(policy.measurements ?? [])',
        to: '(policy.measurements ?? [said.measurement])',
      },
      {
        breaks: 'A release that the policy lacks is not trusted.',
        from: 'same(body.releaseDigest, fromHex(release, 32) ?? none)',
        to: 'release !== ""',
      },
      {
        breaks: 'A kind of evidence without a verifier is refused.',
        from: 'Object.hasOwn(verifiers, evidence.type) ? verifiers[evidence.type] : undefined',
        to: 'verifiers[evidence.type]',
      },
      {
        breaks: 'A pin has its length.',
        from: "if (!lengths.includes(fromHex(hex, 64)?.length ?? 0)) throw new SealgateError('bad_policy')",
        to: '',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/embeddings.ts',
    test: 'test/sealed-embeddings.test.ts',
    changes: [
      {
        breaks: 'Sealed vectors are made by models that are confidential, and that the key may use.',
        from: "await confidentialModel(catalog, grant, wish.model, 'embed', signal)",
        to: '(await catalog.find(wish.model, signal))!',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/routes.ts',
    test: 'test/sealed-embeddings.test.ts',
    changes: [{ breaks: 'The proxy makes vectors.', from: 'embed(it), ', to: '' }],
  },
  {
    file: 'core/routes/sealed-inference.ts',
    test: 'test/sealed-decision.test.ts',
    changes: [
      {
        breaks: 'A sealed refusal tells no time where none helps.',
        from: 'refused(status, failure, body, retryAfter)',
        to: 'refused(status, failure, body)',
      },
    ],
  },
  {
    file: 'core/routes/sealed-inference.ts',
    test: 'test/sealed-streams.test.ts',
    changes: [
      {
        breaks: 'An operator may let a key have more streams.',
        from: 'settings.limits.sealedStreams',
        to: '1',
      },
      {
        breaks: 'A stream that fails ends in an event of its own.',
        from: "flag === '02' ? 'error' : 'data'",
        to: "'data'",
      },
    ],
  },
  {
    file: 'core/sealed/enclave/open.ts',
    test: 'test/sealed-decision.test.ts',
    changes: [
      {
        breaks: 'The name of a key that stands twice stays inside the seal.',
        from: "error instanceof BadRequest ? new SealedRefusal('invalid_parameters', asker) : error",
        to: 'error',
      },
      {
        breaks: 'A long decision is read twice, from bytes that are still there.',
        from: 'outer.ordered === true && plain !== null ? plain.slice() : plain',
        to: 'plain',
      },
    ],
  },
  {
    file: 'core/sealed/client/agree-ahead.ts',
    test: 'test/core/sealed/client/agree-ahead.test.ts',
    changes: [{ breaks: 'No secret is given twice.', from: '  ready.delete(publicKey)\n', to: '' }],
  },
  {
    file: 'core/sealed/client/error.ts',
    test: 'test/core/sealed/client/aborted.test.ts',
    changes: [
      {
        breaks: 'A caller that leaves an answer gets its own reason.',
        from: 'signal?.aborted ? signal.reason : new',
        to: 'new',
      },
    ],
  },
  {
    file: 'core/sealed/client/content.ts',
    test: 'test/core/sealed/client/aborted.test.ts',
    changes: [
      {
        breaks: 'A caller that leaves a file does not take it for a damaged one.',
        from: '    if (signal?.aborted) throw signal.reason\n',
        to: '',
      },
    ],
  },
]
