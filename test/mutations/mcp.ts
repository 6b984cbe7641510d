import type { Changes } from './mutation.ts'

const folder = 'adapters/production/commands/mcp'
const parts = 'test/adapters/production/commands/mcp'
const whole = 'test/mcp.test.ts'

export const mcp: readonly Changes[] = [
  {
    file: 'plugins/surfaces/mcp/clear-tools.ts',
    test: 'test/mcp-http.test.ts',
    changes: [
      {
        breaks: 'A tool runs in the clear only where it says so.',
        from: "tool.kind === 'simple' && tool.clear === true",
        to: "tool.kind === 'simple'",
      },
      {
        breaks: 'Lists and calls go by scope.',
        from: "hasScope(caller, 'tools.execute')",
        to: 'caller.key.length > 0',
      },
      {
        breaks: 'Arguments have a bound.',
        from: 'Buffer.byteLength(text) > (tool.mostParams ?? usualParams)',
        to: '(tool.mostParams ?? usualParams) < 0',
      },
      {
        breaks: 'A parameter that a tool does not have is refused.',
        from: '    if (odd !== null) throw',
        to: '    if (odd === null && false) throw',
      },
    ],
  },
  {
    file: 'plugins/surfaces/mcp/address.ts',
    test: 'test/mcp-http.test.ts',
    changes: [
      {
        breaks: 'A host that the configuration does not name is refused.',
        from: '  if (!isOwn(hostOf(host), place))\n',
        to: '  if (host === undefined)\n',
      },
      { breaks: 'A page of another origin is refused.', from: '  if (!sameHost)\n', to: '  if (own === null)\n' },
      { breaks: 'A 401 names the metadata.', from: "url === undefined ? ''", to: "url !== undefined ? ''" },
    ],
  },
  {
    file: 'core/dialects/mcp/exchange.ts',
    test: 'test/mcp-http.test.ts',
    changes: [
      {
        breaks: 'The name in the header is that of the body.',
        from: 'name === null || decoded(name) !== source',
        to: 'name === null && source === null',
      },
      {
        breaks: 'The method in the header is that of the body.',
        from: "textOf(headers, 'mcp-method') !== method",
        to: 'method === null',
      },
      {
        breaks: 'The version in the header is that of the body.',
        from: 'if (version !== told)',
        to: 'if (version === null && told === null)',
      },
      {
        breaks: 'Older clients read errors in answers with 200.',
        from: '!== latestRevision) return 200',
        to: '!== latestRevision) return 400',
      },
    ],
  },
  {
    file: `${folder}/roots.ts`,
    test: `${parts}/roots.test.ts`,
    changes: [
      {
        breaks: 'The descriptor is what is checked: a path over a link is refused, however fast it changes.',
        from: '  if ((await openedPath(handle, path)) !== path) throw new Refusal(links)\n',
        to: '',
      },
      {
        breaks: 'A file with a second name is refused.',
        from: "  if (it.nlink !== 1) throw new Refusal('The file has more than one name')\n",
        to: '',
      },
      {
        breaks: 'A path out of the roots is refused.',
        from: "way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)",
        to: 'isAbsolute(way)',
      },
      {
        breaks: 'A hidden file is refused unless it is allowed.',
        from: "way.split(sep).some((part) => part.startsWith('.'))",
        to: 'false',
      },
      {
        breaks: 'A file that git ignores is refused unless it is allowed.',
        from: '(await isGitIgnored(root.real, path, env))',
        to: 'false',
      },
    ],
  },
  {
    file: `${folder}/json-rpc.ts`,
    test: `${parts}/json-rpc.test.ts`,
    changes: [
      {
        breaks: 'A call that was cancelled is not answered.',
        from: '    if (!stop.signal.aborted) say(said)\n',
        to: '    say(said)\n',
      },
      {
        breaks: 'Calls stop when their client is gone.',
        from: "    for (const stop of running.values()) stop.abort(new Error('The client is gone'))\n",
        to: '',
      },
      {
        breaks: 'Whoever does not read is not asked for more.',
        from: '      if (output.writableNeedDrain) await',
        to: '      if (false as boolean) await',
      },
      { breaks: 'Lines have a bound.', from: 'yield size > most ? null :', to: 'yield' },
    ],
  },
  {
    file: 'core/dialects/mcp/protocol.ts',
    test: 'test/core/dialects/mcp/protocol.test.ts',
    changes: [
      { breaks: 'Progress never goes back.', from: '    if (percent <= last) return\n', to: '' },
      {
        breaks: 'A revision that is not served is refused by its own code.',
        from: '  if (requested !== latestRevision)\n',
        to: "  if (requested === '')\n",
      },
    ],
  },
  {
    file: 'adapters/production/commands/mcp.ts',
    test: whole,
    changes: [
      { breaks: 'Nothing is offered before the enclave is proven.', from: '    await client.verify()\n', to: '' },
    ],
  },
  {
    file: `${folder}/made-files.ts`,
    test: whole,
    changes: [
      { breaks: 'A file that a tool makes is for its owner alone.', from: "'wx', 0o600", to: "'wx', 0o644" },
      { breaks: 'Results are outside all roots.', from: '  refuseInside(parent, roots)\n', to: '' },
    ],
  },
  {
    file: `${folder}/sent-files.ts`,
    test: whole,
    changes: [
      {
        breaks: 'The same content goes once.',
        from: 'before ?? (again ? null : await memory.get(name))',
        to: 'again ? null : before',
      },
      {
        breaks: 'Files of a session leave with it.',
        from: '    if (store === null) own.add(kept.id)\n',
        to: '',
      },
      {
        breaks: 'A file that changes while it is sent is refused.',
        from: '    if (hash.equals(await hashOf(file))) return kept.id\n',
        to: '    if (hash.length > 0) return kept.id\n',
      },
    ],
  },
  {
    file: `${folder}/long-results.ts`,
    test: whole,
    changes: [
      {
        breaks: 'No character is cut between pages.',
        from: 'last <= 0xdbff ? end - 1 : end',
        to: 'last <= 0xdbff ? end : end',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/decision.ts',
    test: 'test/sealed-decision.test.ts',
    changes: [
      {
        breaks: 'A sealed decision is paid for.',
        from: 'void (trailer = { ...trailer, usage, backend })',
        to: 'undefined',
      },
      {
        breaks: 'What is wrong with sealed questions is said by its path.',
        from: "throw new Refusal('invalid_parameters', Object.keys(error.validator ?? {})[0] ?? null)",
        to: "throw new Refusal('invalid_parameters')",
      },
    ],
  },
  {
    file: 'core/sealed/enclave/open.ts',
    test: 'test/sealed-decision.test.ts',
    changes: [
      {
        breaks: 'Labels of a sealed decision keep their order.',
        from: "(await readJson(plain, 'ordered')) as OrderedJson",
        to: "(await import('../../dialects/json.ts')).readOrdered(JSON.stringify(json))",
      },
    ],
  },
]
