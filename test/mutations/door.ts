import type { Changes } from './mutation.ts'

export const door: readonly Changes[] = [
  {
    file: 'adapters/production/config/file-faults.ts',
    test: 'test/operators.test.ts',
    changes: [
      {
        breaks: 'Faults of plugins are said beside those of other sections.',
        from: 'return faultsOf(rest).length === 0 ? rest : null',
        to: 'return faultsOf(config).length === 0 ? rest : null',
      },
    ],
  },
  {
    file: 'adapters/production/commands/error-text.ts',
    test: 'test/first-screen.test.ts',
    changes: [
      {
        breaks: 'An unknown option is said in one sentence.',
        from: '(optionFault(error) ?? error.message)',
        to: 'error.message',
      },
    ],
  },
  {
    file: 'adapters/production/main.ts',
    test: 'test/first-screen.test.ts',
    changes: [
      {
        breaks: 'A wrong port is refused with the numbers that a port has.',
        from: ' && Number(said) <= 65_535',
        to: '',
      },
    ],
  },
  {
    file: 'adapters/production/screen/draw.ts',
    test: 'test/adapters/production/screen/draw.test.ts',
    changes: [
      {
        breaks: 'Lines without a terminal show why a backend is away.',
        from: 'reasonOf(fault)}`\n    : ',
        to: "'away'}`\n    : ",
      },
      {
        breaks: 'What a development enclave proves is in yellow.',
        from: "styleText('yellow', proofs",
        to: "styleText('dim', proofs",
      },
    ],
  },
  {
    file: 'adapters/production/screen/reasons.ts',
    test: 'test/adapters/production/screen/draw.test.ts',
    changes: [{ breaks: 'A refused key is told in words.', from: "  401: 'the key was refused',\n", to: '' }],
  },
  {
    file: 'adapters/production/log/worded-line.ts',
    test: 'test/adapters/production/log/worded-line.test.ts',
    changes: [
      {
        breaks: 'Nothing in a worded line moves the cursor.',
        from: "text.replace(/[\\u0000-\\u001f\\u007f-\\u009f]/g, '?')",
        to: 'text',
      },
    ],
  },
  {
    file: 'core/http/fetch.ts',
    test: 'test/embedding.test.ts',
    changes: [
      {
        breaks: 'Without an address, a bound key is refused.',
        from: 'far.remoteAddress = address\n',
        to: "far.remoteAddress = address ?? '10.1.2.3'\n",
      },
      {
        breaks: 'Whoever aborts a web request ends the call.',
        from: "      signal.addEventListener('abort', leave, { once: true })\n",
        to: '',
      },
    ],
  },
  {
    file: 'core/http/prefix.ts',
    test: 'test/embedding.test.ts',
    changes: [
      {
        breaks: 'A path that only begins like the mount path is another one.',
        from: "else if (rest.startsWith('/')) request.url = rest",
        to: "else request.url = rest.startsWith('/') ? rest : rest.slice(1)",
      },
    ],
  },
  {
    file: 'core/inference/models/model-lists.ts',
    test: 'test/embedding.test.ts',
    changes: [
      {
        breaks: "A provider that can't be listed is told of once.",
        from: '      failing.add(upstream.name)\n',
        to: '',
      },
    ],
  },
  {
    file: 'core/access/grants.ts',
    test: 'test/admin.test.ts',
    changes: [
      {
        breaks: 'A key that is made without scopes administers nothing.',
        from: 'plainScopes.filter((it) => own.scopes.includes(it))',
        to: 'own.scopes',
      },
    ],
  },
  {
    file: 'core/optional-package.ts',
    test: 'test/light.test.ts',
    changes: [
      {
        breaks: 'A refusal names the command that installs what is missing.',
        from: "`: npm i ${specs.join(' ')}`",
        to: "''",
      },
    ],
  },
  {
    file: 'core/routes/not-found-hint.ts',
    test: 'test/front.test.ts',
    changes: [
      {
        breaks: 'A path that people try is answered with where to go.',
        from: '    if (place !== null) return `Not found: it is ${place}`\n',
        to: '',
      },
    ],
  },
]
