import module from 'node:module'
import type { Changes } from './mutation.ts'

const keys = 'test/adapters/production/commands/bootstrap-key.test.ts'
const egress = 'test/adapters/production/network/egress.test.ts'

/** Node has them from 22.15; its test skips the cases of an older one. */
const hasHooks = 'registerHooks' in module

const nearModules: Changes = {
  file: 'adapters/production/near-modules.ts',
  test: 'test/adapters/production/near-modules.test.ts',
  changes: [
    {
      breaks: 'Node searches for no module of the package.',
      from: 'if (!isRelative.test(specifier) ||',
      to: 'if (isRelative.test(specifier) ||',
    },
    {
      breaks: 'Node reads no module of the package.',
      from: "if (!isNear(url) || !url.endsWith('.js'))",
      to: "if (isNear(url) || !url.endsWith('.js'))",
    },
    {
      breaks: 'Modules of others are found and read as Node does it.',
      from: 'url?.startsWith(folder) === true &&',
      to: 'url !== undefined &&',
    },
  ],
}

export const production: readonly Changes[] = [
  ...(hasHooks ? [nearModules] : []),
  {
    file: 'adapters/production/start-plainly.ts',
    test: 'test/adapters/production/start-plainly.test.ts',
    changes: [
      {
        breaks: 'V8 optimizes nothing while the gateway starts.',
        from: "setFlagsFromString('--no-opt')",
        to: "setFlagsFromString('--opt')",
      },
      {
        breaks: 'V8 optimizes the code of a gateway that serves.',
        from: "    setFlagsFromString('--opt')\n    if",
        to: '    if',
      },
      {
        breaks: 'Options by which a user chooses the compilers stay.',
        from: 'if (chosen.test(',
        to: 'if (false && chosen.test(',
      },
    ],
  },
  {
    file: 'adapters/production/evidence/proven-enclave.ts',
    test: 'test/proof.test.ts',
    changes: [
      {
        breaks: 'Evidence of a platform gets its certificates and lists.',
        from: 'if (platformOf(keyset.evidence.type) === null) return keyset',
        to: 'if (platformOf(keyset.evidence.type) !== undefined) return keyset',
      },
    ],
  },
  {
    file: 'adapters/production/evidence/own-check.ts',
    test: 'test/proof.test.ts',
    changes: [
      {
        breaks: 'An operator is told of evidence that clients would refuse.',
        from: 'if (error instanceof Refusal) return error.reason',
        to: 'if (error instanceof Refusal) return null',
      },
    ],
  },
  {
    file: 'adapters/production/commands/bootstrap-key.ts',
    test: keys,
    changes: [
      {
        breaks: 'Of first starts at once, one tells a key.',
        from: '  if (rows.at(-1)?.id === row.id) return credential\n',
        to: '  if (rows.length > 0) return credential\n',
      },
      {
        breaks: 'A first key that is not told is revoked.',
        from: '() => keys.revoke(row.id, null))',
        to: 'async () => true)',
      },
      { breaks: 'A store with a key gets no further one.', from: '  if (total > 0) return null\n', to: '' },
    ],
  },
  {
    file: 'adapters/production/network/fetch-outside.ts',
    test: egress,
    changes: [
      {
        breaks: 'A caller who leaves before a body is sent ends no process.',
        from: '      signal.throwIfAborted()\n',
        to: '',
      },
    ],
  },
  {
    file: 'adapters/production/network/egress.ts',
    test: egress,
    changes: [
      { breaks: 'Private addresses are refused.', from: "'0.0.0.0/8 10.0.0.0/8", to: "'0.0.0.0/8" },
      { breaks: 'The address of a cloud is refused.', from: ' 169.254.0.0/16', to: '' },
      { breaks: 'Documentation addresses of IPv6 are refused.', from: ' 2001:db8::/32', to: '' },
      {
        breaks: 'Ports that nobody opened are refused.',
        from: '      if (!doors.has(url.port ? Number(url.port) : usual)) return refuse()\n',
        to: '',
      },
      {
        breaks: 'An address with a name and a password is refused.',
        from: '      if (url.username || url.password) return refuse()\n',
        to: '',
      },
      { breaks: 'Names of a private network are refused.', from: ' || privateName.test(host)', to: '' },
      {
        breaks: 'Every address of a name is checked.',
        from: 'for (const address of addresses) {',
        to: 'for (const address of addresses.slice(0, 1)) {',
      },
      { breaks: 'A name without an address is refused.', from: '      if (addresses.length === 0) refuse()\n', to: '' },
      {
        breaks: 'An address with a zone is refused.',
        from: "isIP(address) !== 0 && !address.includes('%') &&",
        to: 'isIP(address) !== 0 &&',
      },
    ],
  },
  {
    file: 'core/fair-shares.ts',
    test: 'test/core/fair-shares.test.ts',
    changes: [
      {
        breaks: 'An organisation holds its share.',
        from: 'fits(organization.get(holder.organization) ?? 0, size, room.organization) &&\n  ',
        to: '',
      },
      { breaks: 'A queue is bounded in all.', from: 'queued > queue.all || ', to: '' },
      { breaks: 'A queue is bounded for an organisation.', from: ' || mine.length > queue.organization', to: '' },
      {
        breaks: 'An organisation that got its turn stands behind the others.',
        from: '    stepBack(stock, holder)\n    hold(stock, holder, size)\n',
        to: '    hold(stock, holder, size)\n',
      },
      {
        breaks: 'An organisation that gives its share back stands behind the others.',
        from: '      stepBack(stock, holder)\n      pass(stock)',
        to: '      pass(stock)',
      },
      { breaks: 'A caller that left waits no more.', from: '          if (remove(stock, it)) pass(stock)\n', to: '' },
    ],
  },
  {
    file: 'adapters/memory/rate-limiter.ts',
    test: 'test/adapters/memory/rate-limiter.test.ts',
    changes: [
      { breaks: 'A refused charge takes nothing.', from: '            bucket.left = before\n', to: '' },
      {
        breaks: 'An allowance holds its most.',
        from: 'Math.min(bucket.most, bucket.left + more) + most - bucket.most',
        to: 'bucket.left + more + most - bucket.most',
      },
      {
        breaks: 'A raised most counts at once.',
        from: 'Math.min(bucket.most, bucket.left + more) + most - bucket.most',
        to: 'Math.min(bucket.most, bucket.left + more)',
      },
      {
        breaks: 'An allowance with an end refills by nothing until then.',
        from: 'const more = until === undefined ? ',
        to: 'const more = until !== 0 ? ',
      },
      {
        breaks: 'A place falls free after its time.',
        from: '      if (leases.length >= most) lapse(leases, now)\n',
        to: '',
      },
      { breaks: 'Places are as many as were said.', from: '      if (leases.length >= most) return null\n', to: '' },
      { breaks: 'A charge is settled once.', from: '            if (settled) return\n', to: '' },
    ],
  },
  {
    file: 'adapters/production/commands/seal/admission.ts',
    test: 'test/seal-program.test.ts',
    changes: [
      {
        breaks: 'A token is asked for in every header that carries a key.',
        from: 'given.length > 0 && given.every(',
        to: 'given.length > 0 && given.some(',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/environment.ts',
    test: 'test/seal-program.test.ts',
    changes: [
      { breaks: 'A program has no variable of the gateway.', from: 'isOurs || tells', to: 'tells' },
      { breaks: 'A program has no variable that holds the key.', from: 'isOurs || tells', to: 'isOurs' },
      {
        breaks: 'A program has no key of a vendor.',
        from: 'vendors.test(name) || keys.test(name)',
        to: 'keys.test(name)',
      },
      { breaks: 'A program has no key of another service.', from: ' || keys.test(name)', to: '' },
    ],
  },
  {
    file: 'adapters/production/commands/seal/run-program.ts',
    test: 'test/seal-program.test.ts',
    changes: [
      {
        breaks: 'A file of settings is gone with its run.',
        from: '    await rm(folder, { recursive: true, force: true })\n',
        to: '',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/program-settings.ts',
    test: 'test/seal-program.test.ts',
    changes: [
      { breaks: 'Settings of the machine stay.', from: '    ...own,\n', to: '' },
      {
        breaks: 'Gemini CLI is not started where it would not sign in.',
        from: 'isChosen ||= signing === usual',
        to: 'isChosen = true',
      },
      {
        breaks: 'Continue takes no models but those of the proxy.',
        from: "foundFlag(args, ['--config', '--model', '--agent'])",
        to: 'foundFlag(args, [])',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal.ts',
    test: 'test/seal-program.test.ts',
    changes: [
      {
        breaks: 'Settings that lead past the proxy stop the command.',
        from: 'if (started) await checkProgram(started)',
        to: '',
      },
      {
        breaks: 'No program starts before the enclave is verified.',
        from: '  await client.verify()\n  const models = (await client.models.list())',
        to: '  const models = (await client.models.list().catch(() => []))',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/promise.ts',
    test: 'test/adapters/production/commands/calibrate/promise.test.ts',
    changes: [
      {
        breaks: 'A promise takes account of chance.',
        from: 'if (upperBound(wrong, tries, certainty) > errors) break',
        to: 'if (wrong > errors * tries) break',
      },
      {
        breaks: 'Clopper and Pearson bound the share from above.',
        from: '> 1 - certainty) low',
        to: '> certainty) low',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/figures.ts',
    test: 'test/adapters/production/commands/calibrate/promise.test.ts',
    changes: [{ breaks: 'Chance alone makes an error.', from: 'Number(fraction() < claim)', to: 'claim' }],
  },
  {
    file: 'adapters/production/commands/calibrate/temperatures.ts',
    test: 'test/adapters/production/commands/calibrate/promise.test.ts',
    changes: [
      {
        breaks: 'Few cases get no temperature of their own.',
        from: 'const leastCases = 50',
        to: 'const leastCases = 1',
      },
      {
        breaks: 'The fit goes to the least surprise.',
        from: 'if (at(left) < at(right))',
        to: 'if (at(left) > at(right))',
      },
    ],
  },
  {
    file: 'adapters/production/commands/calibrate/settings-file.ts',
    test: 'test/adapters/production/commands/calibrate/settings-file.test.ts',
    changes: [
      { breaks: 'A calibration is replaced by the next.', from: 'if (old !== null) return', to: 'if (false) return' },
      {
        breaks: 'A file keeps its permissions.',
        from: 'await handle.chmod(mode & 0o777)',
        to: 'await handle.chmod(0o666)',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/routes.ts',
    test: 'test/seal.test.ts',
    changes: [
      {
        breaks: 'Sealed streams wait for their turn.',
        from: '    leave = await queue.enter(signal)\n',
        to: '    void queue\n',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/routes.ts',
    test: 'test/seal-doors.test.ts',
    changes: [{ breaks: 'Nothing leaves the machine unsealed.', from: '...closed, greet', to: 'greet' }],
  },
  {
    file: 'adapters/production/commands/seal/dialect-chats.ts',
    test: 'test/seal-doors.test.ts',
    changes: [
      {
        breaks: 'A sealed stream that breaks ends in an error of the Messages dialect.',
        from: "data: JSON.stringify(dialectError(error, 'messages').body)",
        to: 'data: JSON.stringify(dialectError(error).body)',
      },
      {
        breaks: 'A sealed stream that breaks ends in an error of the Gemini dialect.',
        from: "data: JSON.stringify(dialectError(error, 'google').body)",
        to: 'data: JSON.stringify(dialectError(error).body)',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/errors.ts',
    test: 'test/seal-doors.test.ts',
    changes: [
      { breaks: 'A failure before the first frame has its status.', from: 'known?.status ?? ', to: '' },
      { breaks: 'Each code has a sentence.', from: 'known?.sentence ?? ', to: '' },
    ],
  },
  {
    file: 'core/sealed/enclave/chat.ts',
    test: 'test/seal-doors.test.ts',
    changes: [
      {
        breaks: 'Signed thoughts go to backends of their dialect alone.',
        from: "dialect === 'messages' ? body : plain",
        to: 'dialect === null ? plain : body',
      },
    ],
  },
]
