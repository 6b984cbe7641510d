import type { Changes } from './mutation.ts'

const collateral = 'test/adapters/production/evidence/collateral.test.ts'
const batches = 'test/adapters/production/evidence/batches.test.ts'
const receipts = 'test/receipts.test.ts'
const proof = 'test/proof.test.ts'
const release = 'test/release.test.ts'
const bundle = 'test/adapters/production/commands/release/sigstore-bundle.test.ts'

/** What proves an enclave beside its report, and what proves an answer. */
export const proofs: readonly Changes[] = [
  {
    file: 'adapters/production/evidence/piece-store.ts',
    test: collateral,
    changes: [
      {
        breaks: 'An older piece never takes the place of a newer one.',
        from: '(place.piece !== null && piece.ends < place.piece.ends)',
        to: 'false',
      },
      {
        breaks: 'What is in the store is checked again.',
        from: 'return members && { members, ...(await wanted.check(members, clock.now())) }',
        to: 'return members && { members, issued: 0, ends: 9e15, taken: 9e15 }',
      },
      {
        breaks: 'A fetched piece is checked before it is served.',
        from: 'const piece = { members, ...(await wanted.check(members, clock.now())) }',
        to: 'const piece = { members, issued: 0, ends: 9e15, taken: 9e15 }',
      },
      {
        breaks: 'A missing piece is asked for once in ten seconds.',
        from: 'retryMs = { urgent: 10_000,',
        to: 'retryMs = { urgent: 0,',
      },
      {
        breaks: 'A piece is fetched anew when half of its life is over.',
        from: '(piece.issued + piece.ends) / 2',
        to: 'piece.ends',
      },
    ],
  },
  {
    file: 'adapters/production/evidence/auxblob.ts',
    test: collateral,
    changes: [
      {
        breaks: 'An entry outside the blob is passed over.',
        from: ' || offset + length > blob.length',
        to: '',
      },
      { breaks: 'Nothing behind the end of the entries is read.', from: 'if (/^0+$/.test(guid)) break', to: '' },
    ],
  },
  {
    file: 'adapters/production/evidence/intel.ts',
    test: collateral,
    changes: [
      {
        breaks: 'Levels are about the platform of the quote.',
        from: "      demand(about === fmspc, 'collateral_invalid', 'fmspc')\n",
        to: '',
      },
    ],
  },
  {
    file: 'adapters/production/evidence/batches.ts',
    test: batches,
    changes: [
      { breaks: 'No more wait than there is room for.', from: 'waiting: 8192', to: 'waiting: 9e9' },
      {
        breaks: 'Evidence that proves nothing is made for each challenge.',
        from: 'if (isGrouped(keyset)) grouped.add(line)',
        to: 'grouped.add(line)',
      },
      {
        breaks: 'A busy enclave is asked again.',
        from: 'if (!(error instanceof TooMany) || clock.now() >= until) throw error',
        to: 'throw error',
      },
    ],
  },
  {
    file: 'adapters/production/config/enclave-parts.ts',
    test: proof,
    changes: [
      {
        breaks: 'Development evidence ends a start in production.',
        from: "env === 'production' && (",
        to: "env !== 'production' && (",
      },
    ],
  },
  {
    file: 'core/sealed/wire/signature.ts',
    test: receipts,
    changes: [
      {
        breaks: 'ML-DSA alone proves nothing.',
        from: 'ed25519.verify(made[0], data, by[0], { zip215: false }) && ',
        to: '',
      },
      { breaks: 'Ed25519 alone proves nothing.', from: ' && mlDsa.verify(made[1], data, by[1])', to: '' },
    ],
  },
  {
    file: 'core/sealed/wire/tree.ts',
    test: receipts,
    changes: [
      {
        breaks: 'A path of another length leads nowhere.',
        from: 'return at === place.path.length ? node : null',
        to: 'return node',
      },
    ],
  },
  {
    file: 'core/sealed/client/receipts.ts',
    test: receipts,
    changes: [
      { breaks: 'A receipt is of this request.', from: 'names(facts.request, digest) && ', to: '' },
      { breaks: 'A receipt is of this answer.', from: 'names(facts.answer, answer) && ', to: '' },
      { breaks: 'A receipt is of this route.', from: ' && facts.route === route', to: '' },
      { breaks: 'A receipt is of the key that the request was sealed to.', from: ' && facts.key === kid', to: '' },
      {
        breaks: 'Keys that the keyset does not name sign nothing.',
        from: 'return said.slice(0, 16).filter(isNamed)',
        to: 'return said as Pair[]',
      },
    ],
  },
  {
    file: 'core/sealed/client/decisions.ts',
    test: 'test/sealed-decision.test.ts',
    changes: [
      {
        breaks: 'A sealed decision asks for its receipt.',
        from: 'receipt ? { ...params, receipt: true } : { ...params }',
        to: '{ ...params }',
      },
      {
        breaks: 'The receipt of a decision is checked and given.',
        from: '    receipt?.(receiptBeside(sent.request, answer))\n',
        to: '',
      },
    ],
  },
  {
    file: 'core/sealed/client/embeddings.ts',
    test: 'test/sealed-embeddings.test.ts',
    changes: [
      {
        breaks: 'The receipt of embeddings is checked and given.',
        from: '    receipt?.(receiptBeside(sent.request, answer))\n',
        to: '',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/open.ts',
    test: receipts,
    changes: [
      {
        breaks: 'No backend is asked for a receipt.',
        from: 'params: wanted === true ? rest : said',
        to: 'params: said',
      },
    ],
  },
  {
    file: 'core/sealed/wire/log.ts',
    test: 'test/receipt-log.test.ts',
    changes: [
      {
        breaks: 'A log continues its own beginning alone.',
        from: 'same(old, from) && same(now, to)',
        to: 'same(now, to)',
      },
      { breaks: 'A log leads to its own root.', from: 'same(old, from) && same(now, to)', to: 'same(old, from)' },
      { breaks: 'A log never shrinks.', from: ' || earlier.size > later.size', to: '' },
      { breaks: 'A place is of the size that was signed.', from: 'if (place.size !== size) return false', to: '' },
    ],
  },
  {
    file: 'core/sealed/enclave/log-heads.ts',
    test: 'test/receipt-log.test.ts',
    changes: [
      {
        breaks: 'An enclave signs no fork.',
        from: "if (last !== null && !isContinued(last, now, path)) throw new BadRequest('The log does not continue')",
        to: '',
      },
      {
        breaks: 'An enclave signs one log.',
        from: "if (last !== null && last.log !== log) throw new BadRequest('The log is another one')",
        to: '',
      },
    ],
  },
  {
    file: 'core/receipts/tiles.ts',
    test: 'test/receipt-log.test.ts',
    changes: [
      {
        breaks: 'Leaves that a killed process left are replaced.',
        from: '.slice(0, used * digits)\n',
        to: '\n',
      },
      { breaks: 'Two writers never mix.', from: '{ nodes }, seen)', to: '{ nodes })' },
    ],
  },
  {
    file: 'core/receipts/receipt-log.ts',
    test: 'test/receipt-log.test.ts',
    changes: [
      {
        breaks: 'A proof is for the organisation of the receipt.',
        from: "if (row?.organization !== organization) return 'unknown'",
        to: "if (row === null) return 'unknown'",
      },
    ],
  },
  {
    file: 'core/sealed/client/receipt-log.ts',
    test: 'test/receipt-log.test.ts',
    changes: [
      {
        breaks: 'A head that does not continue the kept one is a fork.',
        from: 'if (earlier !== undefined && !isContinued(earlier, now.facts, said.path ?? [])) return forked()',
        to: '',
      },
    ],
  },
  {
    file: 'adapters/production/commands/release/verify.ts',
    test: release,
    changes: [
      {
        breaks: 'A provenance is signed by keys that the stranger names.',
        from: '  await checkSigned(provenanceFormat, text, await signaturesOf(join(folder, file)), pinned)\n',
        to: '',
      },
      {
        breaks: 'The list names the digest of the provenance.',
        from: ' || listed.digest !== digest)',
        to: ')',
      },
      {
        breaks: 'A withdrawn release is refused.',
        from: "  insist(listed.state !== 'withdrawn', 'the release is withdrawn')\n",
        to: '',
      },
      {
        breaks: 'A package is that of the provenance.',
        from: 'sha256(tarball) === subjectOf(said, files.package)',
        to: 'true',
      },
      {
        breaks: 'A bill of materials is that of the provenance.',
        from: 'sha256(bill) === subjectOf(said, files.bill)',
        to: 'true',
      },
      { breaks: 'A release is of the commit at hand.', from: 'commitOf(said) === source.commit', to: 'true' },
      { breaks: 'A bill names what the source locks.', from: 'billOf(source.packages) === bill', to: 'true' },
      {
        breaks: 'A configuration has the digest of the release.',
        from: '(await configurationDigest(config)) === digest',
        to: 'true',
      },
      { breaks: 'The source gives the package.', from: 'sha256(own) === sha256(tarball)', to: 'true' },
      { breaks: 'A provenance says no more than the source shows.', from: 'again === text', to: 'true' },
    ],
  },
  {
    file: 'adapters/production/commands/release/verify.ts',
    test: release,
    changes: [
      {
        breaks: 'A bundle names the commit of the source.',
        from: 'facts.commits !== null && !facts.commits.includes(commit)',
        to: 'false',
      },
      {
        breaks: 'A release is refused where its bundle is.',
        from: '  if (bundle !== null) yield await bundleChecked(bundle, tarball, source)\n',
        to: '',
      },
    ],
  },
  {
    file: 'adapters/production/commands/releases.ts',
    test: bundle,
    changes: [
      {
        breaks: 'A list is refused where its bundle is.',
        from: 'asked === null ? null : await checkBundle(asked, bytes)',
        to: 'asked',
      },
    ],
  },
  {
    file: 'adapters/production/commands/release/sigstore-bundle.ts',
    test: bundle,
    changes: [
      {
        breaks: 'A bundle is of the identity that is asked for.',
        from: 'said?.subjectAlternativeName === identity',
        to: 'true',
      },
      {
        breaks: 'An identity is no pattern, and has no other end.',
        from: 'said?.subjectAlternativeName === identity',
        to: 'new RegExp(identity).test(said?.subjectAlternativeName ?? "")',
      },
      {
        breaks: 'A bundle is of the issuer that is asked for.',
        from: 'said?.extensions?.issuer === issuer',
        to: 'true',
      },
      {
        breaks: 'A statement is about the artifact.',
        from: "subject.some((it) => it.digest['sha256'] === digest)",
        to: 'subject.length > 0',
      },
      {
        breaks: 'A signature says whose digest it signs.',
        from: "digest.toString('hex') === sha256(artifact)",
        to: 'true',
      },
      {
        breaks: 'A statement is a provenance.',
        from: "predicateType === 'https://slsa.dev/provenance/v1'",
        to: 'true',
      },
      {
        breaks: 'A provenance tells of a build.',
        from: "  if (!provenance.success) throw new BundleRefusal('bundle_of_other_statement')\n",
        to: '  if (!provenance.success) return []\n',
      },
      {
        breaks: 'A signed text of another type is no statement.',
        from: "payloadType === 'application/vnd.in-toto+json'",
        to: 'true',
      },
      {
        breaks: 'A name in a checkpoint is no pattern.',
        from: 'names.every((name) => /^[\\w.:/-]+$/.test(name))',
        to: 'true',
      },
      {
        breaks: 'A log shows the signature.',
        from: 'new library.Verifier(material)',
        to: 'new library.Verifier(material, { tlogThreshold: 0, timestampThreshold: 0 })',
      },
      {
        breaks: 'A log has seen the certificate.',
        from: 'new library.Verifier(material)',
        to: 'new library.Verifier(material, { ctlogThreshold: 0 })',
      },
      {
        breaks: 'All options of a bundle stand together.',
        from: '!bundle || !identity || !issuer || !root',
        to: '!bundle || !issuer || !root',
      },
      {
        breaks: 'A bundle is bounded before it is read.',
        from: '(await stat(file)).size > mostBytes',
        to: 'false',
      },
    ],
  },
  {
    file: 'adapters/production/commands/release/source.ts',
    test: release,
    changes: [
      { breaks: 'What builds is what the shrinkwrap locks.', from: 'if (foreign.length > 0)', to: 'if (false)' },
      {
        breaks: 'What is not in the commit is not built.',
        from: "await ran('tar', ['-xpf', archive], folder)",
        to: "await ran('cp', ['-r', 'package.json', 'npm-shrinkwrap.json', 'build.mjs', 'index.ts', folder], clone)",
      },
    ],
  },
  {
    file: 'adapters/production/commands/release/bill.ts',
    test: 'test/adapters/production/commands/release/bill.test.ts',
    changes: [
      {
        breaks: 'A need is the package that Node finds.',
        from: 'if (packages[place] !== undefined) return place',
        to: 'if (packages[`node_modules/${name}`] !== undefined) return `node_modules/${name}`',
      },
      { breaks: 'What builds alone is excluded.', from: "dev ? 'excluded' : ", to: '' },
      { breaks: 'A package has its licence.', from: '...(license !== undefined && {', to: '...(false && {' },
    ],
  },
  {
    file: 'adapters/production/commands/release/lock.ts',
    test: 'test/adapters/production/commands/release/bill.test.ts',
    changes: [
      {
        breaks: 'An installed package has bytes.',
        from: 'integrity === undefined || locked[path]',
        to: 'locked[path]',
      },
    ],
  },
  {
    file: 'core/sealed/client/verdict-lines.ts',
    test: 'test/core/evidence/client.test.ts',
    changes: [
      {
        breaks: 'A verdict tells the date of each list.',
        from: '${piece} of ${day(issued)}, until',
        to: '${piece} until',
      },
      {
        breaks: 'A test platform is told as one.',
        from: "it.verified === 'test' ? '! TEST PLATFORM: proves nothing' : null",
        to: 'null',
      },
    ],
  },
  {
    file: 'core/sealed/evidence/appraise.ts',
    test: 'test/core/evidence/appraise.test.ts',
    changes: [
      {
        breaks: 'A list is remembered also when it refuses.',
        from: '    await read.memory.save(mergeSeen(before, seen))\n',
        to: '    if (list?.releases.every(({ state }) => state[0] !== "w")) await read.memory.save(mergeSeen(before, seen))\n',
      },
    ],
  },
]
