import type { Changes } from './mutation.ts'

const verify = 'test/adapters/production/backends/verify-backend.test.ts'
const renewal = 'test/adapters/production/backends/verdicts.test.ts'
const form = 'test/plugins/backend-evidence/attested-tls.test.ts'
const house = 'test/verified-backends.test.ts'
const receipts = 'test/receipts.test.ts'

/** What a backend proves before it gets a request, and what receipts say of it. */
export const backends: readonly Changes[] = [
  {
    file: 'plugins/backend-evidence/attested-tls.ts',
    test: form,
    changes: [
      { breaks: 'The evidence binds the key.', from: 'number(key.length, 4), key, release', to: 'release' },
      { breaks: 'The evidence binds the release.', from: 'key, release)\n', to: 'key)\n' },
      { breaks: 'The label separates the subject.', from: "utf8('sealgate-backend-tls/1\\0'), ", to: '' },
      { breaks: 'A release has 32 bytes.', from: 'bytes?.length !== 32', to: '!bytes' },
    ],
  },
  {
    file: 'adapters/production/network/fetch-upstream.ts',
    test: verify,
    changes: [
      {
        breaks: 'Every connection of a line ends in the key of its evidence.',
        from: 'if (key !== null && isPeer(key)) return',
        to: 'if (key !== null && (isPeer(key), true)) return',
      },
      {
        breaks: 'A certificate without an authority counts only where the key counts alone.',
        from: 'rejectUnauthorized: !anyCertificate',
        to: 'rejectUnauthorized: false',
      },
    ],
  },
  {
    file: 'adapters/production/backends/verify-backend.ts',
    test: verify,
    changes: [
      { breaks: 'A document under another status is none.', from: 'if (status !== 200) {', to: 'if (status > 399) {' },
      { breaks: 'A document has a longest length.', from: 'if (size > mostDocument) throw', to: 'if (size < 0) throw' },
      {
        breaks: 'A question waits for its time alone.',
        from: 'const signal = AbortSignal.timeout(timeout)',
        to: 'const signal = (void timeout, AbortSignal.timeout(200_000))',
      },
      {
        breaks: 'Each question has a fresh nonce.',
        from: 'const nonce = new Uint8Array(randomBytes(32))',
        to: 'const nonce = (void randomBytes, new Uint8Array(32).fill(7))',
      },
      {
        breaks: 'The key is that of the live connection.',
        from: 'key ??= found\n      isMoved ||= !same(key, found)\n      return same(key, found)',
        to: 'key = found\n      return same(key, found)',
      },
      {
        breaks: 'The evidence is appraised.',
        from: 'await appraise(evidence, policy, question)',
        to: "(void appraise, void policy, void question, evidence as { platform: 'sev-snp'; measurement: ''; ends: 9e15 })",
      },
    ],
  },
  {
    file: 'adapters/production/backends/verified-upstream.ts',
    test: verify,
    changes: [
      {
        breaks: 'The upstream has no other door.',
        from: 'supplied[name] = { upstream, outside: closed } satisfies Fetch',
        to: 'void upstream',
      },
      { breaks: 'A refusal is logged.', from: 'if (reason !== null) log', to: 'if (reason === null) log' },
      { breaks: 'One origin alone is reached.', from: 'new URL(url).origin === origin ? door', to: 'origin ? door' },
    ],
  },
  {
    file: 'adapters/production/backends/verified-upstream.ts',
    test: house,
    changes: [
      {
        breaks: 'An answer tells the evidence under which its request went out.',
        from: '({ ...(answer as object), proven: proof })',
        to: '(void proof, answer)',
      },
    ],
  },
  {
    file: 'adapters/production/backends/verdicts.ts',
    test: renewal,
    changes: [
      {
        breaks: 'Evidence counts to its end alone.',
        from: 'Math.min(it.ends, now + 2 * renew)',
        to: 'now + 2 * renew',
      },
      { breaks: 'Evidence counts for twice its renewal.', from: 'Math.min(it.ends, now + 2 * renew)', to: 'it.ends' },
      { breaks: 'Evidence that ended counts no more.', from: 'clock.now() < line.until && ', to: '' },
      { breaks: 'Another key needs evidence of its own.', from: ' && !line.it.isMoved()', to: '' },
      {
        breaks: 'Refused evidence ends the evidence before it.',
        from: 'if (isAnswer || standing()',
        to: 'if (standing()',
      },
      {
        breaks: 'A backend without an answer keeps its evidence.',
        from: 'const isAnswer = !(cause instanceof UpstreamFailed)',
        to: 'const isAnswer = true',
      },
      {
        breaks: 'Evidence is renewed before its end.',
        from: 'if (!over) renewIn(Math.max',
        to: 'if (over) renewIn(Math.max',
      },
      {
        breaks: 'Evidence with an early end is renewed at half of its life.',
        from: 'Math.min(renew, (line.until - now) / 2)',
        to: 'renew',
      },
      {
        breaks: 'A refused backend is left alone for a while.',
        from: 'if (isAnswer) refusal =',
        to: 'if (over) refusal =',
      },
      { breaks: 'Calls that wait share one question.', from: '(asking ??= verified()', to: '(asking = verified()' },
      { breaks: 'A disposed upstream asks no more.', from: 'over = true\n      alarm?.off()', to: '' },
    ],
  },
  {
    file: 'adapters/production/backends/held-lines.ts',
    test: renewal,
    changes: [
      {
        breaks: 'A line is retired after its calls.',
        from: 'if (replaced && calls === 0) void',
        to: 'if (replaced) void',
      },
      { breaks: 'Lines end with their owner.', from: '[...alive].map((it) => it.close())', to: '[]' },
    ],
  },
  {
    file: 'adapters/production/backends/backend-policy.ts',
    test: verify,
    changes: [
      {
        breaks: 'A policy that verifies nothing is a fault of the configuration.',
        from: 'if (policy.measurements === undefined &&',
        to: 'if (false &&',
      },
      {
        breaks: 'A configuration names no test roots and no memory.',
        from: 'const policy = parsePolicy(JSON.stringify(said))',
        to: 'const policy = (void parsePolicy, said as PlatformPolicy)',
      },
    ],
  },
  {
    file: 'adapters/production/config/upstreams.ts',
    test: verify,
    changes: [{ breaks: 'Evidence needs https.', from: "url?.protocol !== 'https:'", to: 'url === null' }],
  },
  {
    file: 'adapters/production/config/release-digest.ts',
    test: verify,
    changes: [
      { breaks: 'The release digest binds what is demanded.', from: '    ...demandsOf(', to: '    ...(() => ({}))(' },
    ],
  },
  {
    file: 'core/sealed/enclave/receipts.ts',
    test: house,
    changes: [
      {
        breaks: 'A receipt names the evidence of its backend, and only then.',
        from: '...(proven && { backendEvidence: proven })',
        to: 'backendEvidence: proven ?? null',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/reply.ts',
    test: house,
    changes: [
      {
        breaks: 'A call without a verified backend has its own code.',
        from: "error.code === unverified ? unverified : 'upstream_failed'",
        to: "'upstream_failed'",
      },
    ],
  },
  {
    file: 'core/inference/routing/resilient-stream.ts',
    test: house,
    changes: [
      { breaks: 'A stream tells the evidence of its backend.', from: '  live.proven = answer.proven\n', to: '' },
    ],
  },
  {
    file: 'core/inference/metering/usage-scope.ts',
    test: verify,
    changes: [{ breaks: 'A tool tells the evidence of its model.', from: '...(proven && { proven }),', to: '' }],
  },
  {
    file: 'adapters/production/commands/check-backends.ts',
    test: house,
    changes: [
      {
        breaks: 'A check tries the backends of the enclave.',
        from: 'evidence !== undefined)',
        to: 'evidence === null)',
      },
    ],
  },
  {
    file: 'core/routes/call-enclave.ts',
    test: 'test/receipt-log.test.ts',
    changes: [
      { breaks: 'A receipt enters the log.', from: 'receipts.enter(organization, reply)', to: 'void receipts' },
    ],
  },
  {
    file: 'adapters/production/commands/receipt.ts',
    test: receipts,
    changes: [
      {
        breaks: 'A receipt that waits is told apart.',
        from: 'if (found === null) {',
        to: "if (found === null) throw new SealgateError('not_logged')\n    if (found === null) {",
      },
      {
        breaks: 'Evidence without keys of receipts is told apart.',
        from: 'unsigned(signers.length > 0)',
        to: 'unsigned(true)',
      },
    ],
  },
  {
    file: 'adapters/production/commands/kept-file.ts',
    test: receipts,
    changes: [
      { breaks: 'A file that is no JSON is not quoted.', from: 'return undefined', to: 'return JSON.parse(text)' },
      { breaks: 'A kept file is an object.', from: ' || value === null || Array.isArray(value)', to: '' },
    ],
  },
]
