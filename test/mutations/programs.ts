import type { Changes } from './mutation.ts'

/** What programs are promised that run as they are: behind the doors, from pages, and behind `sealgate seal --`. */
export const programs: readonly Changes[] = [
  {
    file: 'core/dialects/messages/native.ts',
    test: 'test/dialects/claude-code.test.ts',
    changes: [{ breaks: 'A safety check that is asked of the vendor reaches it.', from: "  'safeguards',\n", to: '' }],
  },
  {
    file: 'core/dialects/messages/request.ts',
    test: 'test/dialects/claude-code.test.ts',
    changes: [
      {
        breaks: 'A safety check that no backend runs is refused, and not left out.',
        from: "if (to !== 'messages' && request['safeguards'] != null)",
        to: 'if (unchecked === null)',
      },
    ],
  },
  {
    file: 'core/dialects/refusal.ts',
    test: 'test/dialects/claude-code.test.ts',
    changes: [
      {
        breaks: 'Sentences on which Claude Code mends its request reach it.',
        from: 'sentence: said.message === null ? null : redactedSentence(said.message)',
        to: 'sentence: null',
      },
    ],
  },
  {
    file: 'plugins/surfaces/shared/dialect-route.ts',
    test: 'test/dialects/claude-code.test.ts',
    changes: [
      {
        breaks: 'Claude Code sees signs of life that are no events.',
        from: "({ comment: 'waiting' })",
        to: "({ data: 'waiting' }) as never",
      },
    ],
  },
  {
    file: 'core/dialects/json-text.ts',
    test: 'test/dialects/cached-share.test.ts',
    changes: [
      {
        breaks: 'A backend of chat completions finds a prompt in its cache as its caller words it.',
        from: 'const text = keptText(it) ?? JSON.stringify(it)',
        to: 'const text = JSON.stringify(it ?? null)',
      },
    ],
  },
  {
    file: 'core/dialects/responses/resource.ts',
    test: 'test/dialects/open-responses.test.ts',
    changes: [
      {
        breaks: 'A response has every member that Open Responses requires.',
        from: '  safety_identifier: request.safety_identifier ?? null,\n',
        to: '',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/chat.ts',
    test: 'test/seal-canary.test.ts',
    changes: [
      {
        breaks: 'The enclave tells nothing of a conversation where its gateway could hear it.',
        from: '  const guess = estimateOf(body)\n',
        to: '  const guess = estimateOf(body)\n  process.stderr.write(JSON.stringify(body))\n',
      },
    ],
  },
  {
    file: 'core/http/cross-origin.ts',
    test: 'test/core/http/cross-origin.test.ts',
    changes: [
      {
        breaks: 'An origin is listed to the letter.',
        from: '!origins.includes(origin)',
        to: '!origins.some((it) => origin.startsWith(it))',
      },
      {
        breaks: 'A page is told its own origin, and no star.',
        from: "'access-control-allow-origin': origin, ",
        to: "'access-control-allow-origin': '*', ",
      },
      {
        breaks: 'Credentials of the browser are never allowed.',
        from: "'access-control-expose-headers': shown }",
        to: "'access-control-expose-headers': shown, 'access-control-allow-credentials': 'true' }",
      },
      {
        breaks: 'A cache keeps the answers to listed origins apart.',
        from: "return { vary: 'origin', 'access",
        to: "return { 'access",
      },
    ],
  },
  {
    file: 'core/settings.ts',
    test: 'test/core/http/cross-origin.test.ts',
    changes: [
      {
        breaks: 'A setting names no star and no part of an origin.',
        from: "v.check(isOrigin, 'an origin such as https://example.org')",
        to: "v.check((it) => it !== '', 'an origin such as https://example.org')",
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal.ts',
    test: 'test/seal-program.test.ts',
    changes: [
      {
        breaks: 'Each run has a key of its own.',
        from: "randomBytes(32).toString('base64url')",
        to: "'a'.repeat(randomBytes(43).length)",
      },
      {
        breaks: 'A started program is served by its key alone.',
        from: 'const token = started ? newToken() : ',
        to: 'const token = started && same === null ? newToken() : ',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/program-settings.ts',
    test: 'test/adapters/production/commands/seal/program-settings.test.ts',
    changes: [
      {
        breaks: 'Claude Code does not go by an HTTP proxy of its settings.',
        from: '  claudes.test(name) ||\n  (direct.test(name) &&',
        to: '  claudes.test(name) ||\n  (!direct.test(name) && direct === null &&',
      },
      {
        breaks: 'An address of the machine’s settings stops Claude Code.',
        from: "    join(machine, 'managed-settings.json'),\n",
        to: '',
      },
      {
        breaks: 'An address in a part of the machine’s settings stops Claude Code.',
        from: "    ...(await filesOf(join(machine, 'managed-settings.d'))).filter((file) => file.endsWith('.json')),\n",
        to: '',
      },
      {
        breaks: 'Claude Code runs on this machine.',
        from: "['--cloud', '--remote-control']",
        to: "['--remote-control']",
      },
      { breaks: 'Codex runs on this machine.', from: "args[0] === 'cloud' || ", to: '' },
      { breaks: 'Codex works for itself.', from: "foundFlag(args, ['--remote'])", to: 'foundFlag(args, [])' },
      { breaks: 'With opencode no other server works.', from: "['--attach', '--share']", to: "['--share']" },
      { breaks: 'In opencode a user shares no session.', from: "['--attach', '--share']", to: "['--attach']" },
      {
        breaks: 'For opencode there is no provider but the proxy.',
        from: "if (settings['enabled_providers'] !== undefined)",
        to: 'if (file === null)',
      },
      {
        breaks: 'The machine gives the provider of opencode no address.',
        from: "if (at(settings, 'provider', 'sealgate') !== undefined)",
        to: 'if (file === null)',
      },
      {
        breaks: 'Models of Qwen Code have no address of their own.',
        from: "if (Object.keys(fieldsIn(settings['modelProviders'])).length > 0)",
        to: 'if (settings === null)',
      },
      {
        breaks: 'No argument gives Qwen Code an address.',
        from: ", '--openai-base-url', '--openaiBaseUrl'",
        to: '',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/settings-files.ts',
    test: 'test/adapters/production/commands/seal/program-settings.test.ts',
    changes: [
      {
        breaks: 'A program is not started where its settings are malformed.',
        from: '  } catch (cause) {\n',
        to: '  } catch (cause) {\n    if (cause !== null) return {}\n',
      },
      {
        breaks: 'Settings are read behind comments too.',
        from: 'fieldsIn(parseJsonc(text).value)',
        to: "fieldsIn(text.includes('/*') ? {} : parseJsonc(text).value)",
      },
    ],
  },
]
