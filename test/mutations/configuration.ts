import type { Changes } from './mutation.ts'

const test = 'test/configuration.test.ts'
const page = 'test/console-settings.test.ts'

/** The configuration in effect, as operators see it. */
export const configurations: readonly Changes[] = [
  {
    file: 'core/routes/configuration.ts',
    test,
    changes: [
      {
        breaks: 'Only operators see the configuration.',
        from: `'api_key.read', operators: true`,
        to: `'api_key.read'`,
      },
      {
        breaks: 'Only operators check the configuration.',
        from: `'api_key.update', operators: true`,
        to: `'api_key.update'`,
      },
      { breaks: 'A key that changes nothing checks nothing.', from: `'api_key.update'`, to: `'api_key.read'` },
      { breaks: 'One check goes on at a time.', from: 'if (isChecking) throw', to: 'if (false) throw' },
      { breaks: 'A check leaves its place.', from: '    isChecking = false\n', to: '' },
      {
        breaks: 'A check that does not end leaves its place.',
        from: 'await unlessAborted(work(), late.signal)',
        to: 'await work()',
      },
      {
        breaks: 'A check stands in the audit.',
        from: `await audit.record(actorOf(id, caller), 'configuration.check', null, look)`,
        to: 'await look()',
      },
    ],
  },
  {
    file: 'adapters/production/config/shown-strings.ts',
    test,
    changes: [
      {
        breaks: 'A text that nobody allowed is hidden.',
        from: 'return place !== null && Object.hasOwn(shownStrings, place) && shownStrings[place]?.(value) === true',
        to: 'return place === null || !Object.hasOwn(shownStrings, place) || shownStrings[place]?.(value) === true',
      },
      {
        breaks: 'An address with a user or a query is hidden.',
        from: ' || /[?#@\\\\]/.test(text)',
        to: '',
      },
      {
        breaks: 'An address with an account in its path is hidden.',
        from: 'part.length <= mostPartCharacters && ',
        to: '',
      },
      {
        breaks: 'An address of a plugin is shown only as a plain one.',
        from: `asks(it, 'url')) return isPlainAddress(value)`,
        to: `asks(it, 'url')) return true`,
      },
      {
        breaks: 'The path of a plugin is hidden.',
        from: 'const isPackage = (text: string): boolean => /^[@a-z][\\w@./-]{0,127}$/i.test(text)',
        to: 'const isPackage = (text: string): boolean => text !== null',
      },
    ],
  },
  {
    file: 'adapters/production/config/shown-settings.ts',
    test,
    changes: [
      {
        breaks: 'A value of a variable is never shown.',
        from: `leaf(place, { origin: 'variable', variable,`,
        to: `leaf(place, { origin: 'variable', variable, value: String(place.value),`,
      },
      {
        breaks: 'What comes from a variable is shown as its name.',
        from: 'return [variableLeaf(given, name)]',
        to: 'return hidden(given)',
      },
      {
        breaks: 'A hidden setting has no value.',
        from: `content: 'hidden', value: null, variable`,
        to: `content: 'hidden', value: typeof value === 'string' ? value : null, variable`,
      },
      {
        breaks: 'The names in a free record are hidden.',
        from: 'if (of === undefined || !isNamed) return hidden(part)',
        to: 'if (of === undefined) return hidden(part)',
      },
      {
        breaks: 'The variables of a hidden part are told.',
        from: '  ...variablesIn(place).filter(({ path }) => path.length > place.path.length),\n',
        to: '',
      },
      {
        breaks: 'A default is told as a default.',
        from: `written === undefined ? 'default' : 'written'`,
        to: `written === undefined ? 'written' : 'written'`,
      },
    ],
  },
  {
    file: 'adapters/production/config/plugin-shapes.ts',
    test,
    changes: [
      {
        breaks: 'A look loads no plugin of the operator’s own.',
        from: `if (choice.use.includes('/')) continue`,
        to: `if (choice.use === '/') continue`,
      },
    ],
  },
  {
    file: 'adapters/production/config/configuration-changes.ts',
    test,
    changes: [
      {
        breaks: 'Another value of a hidden setting is a difference.',
        from: ' && isDeepStrictEqual(one.value, other.value)',
        to: ' && isDeepStrictEqual(one.shown, other.shown)',
      },
      {
        breaks: 'Another variable is a difference.',
        from: 'one.shown.variable === other.shown.variable',
        to: 'one.shown.origin !== null',
      },
      {
        breaks: 'A removed setting is a difference.',
        from: 'const both = new Map([...before, ...after])',
        to: 'const both = after',
      },
      { breaks: 'A change that wants a restart says so.', from: 'isFixed(path)', to: 'path.length === 0' },
    ],
  },
  {
    file: 'adapters/production/config/compared-file.ts',
    test,
    changes: [
      { breaks: 'The folder of the file is not told.', from: 'file ? basename(file) : null', to: 'file ? file : null' },
      { breaks: 'Nothing waits for a pipe.', from: 'if (!about.isFile()) throw', to: 'if (about.isDirectory()) throw' },
      { breaks: 'A huge file is not read.', from: 'if (about.size > mostBytes) throw', to: 'if (false) throw' },
      {
        breaks: 'What the command line says is no difference.',
        from: 'narrowed(withOverrides(said, env))',
        to: 'withOverrides(said, env)',
      },
      {
        breaks: 'What variables of the gateway say is no difference.',
        from: 'narrowed(withOverrides(said, env))',
        to: 'narrowed(said)',
      },
      {
        breaks: 'A check asks the plugins.',
        from: 'await allFaults(said, env)',
        to: 'shapeFaults(said, env)',
      },
      {
        breaks: 'A look asks no plugin.',
        from: 'const faults = linesOf(env, parsed, shapeFaults(said, env))',
        to: 'const faults = linesOf(env, parsed, await allFaults(said, env))',
      },
    ],
  },
  {
    file: 'adapters/production/config/env-config.ts',
    test,
    changes: [
      {
        breaks: 'A key of the environment is told as its variable.',
        from: `apiKey: '$OPENAI_API_KEY'`,
        to: 'apiKey: OPENAI_API_KEY',
      },
    ],
  },
  {
    file: 'adapters/production/commands/boot-gateway.ts',
    test,
    changes: [{ breaks: 'A reload is in effect at once.', from: '    read = next\n', to: '' }],
  },
  {
    file: 'adapters/production/workers/leader.ts',
    test: 'test/workers.test.ts',
    changes: [
      {
        breaks: 'Each worker tells the configuration that it was given.',
        from: 'const workerConfig: WorkerConfig = { ...next,',
        to: 'const workerConfig: WorkerConfig = { ...next, written: leader.read.written,',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/pages/settings.ts',
    test: page,
    changes: [
      {
        breaks: 'Who is no operator sees no configuration.',
        from: 'view.sight.steers && steering',
        to: 'steering',
      },
      {
        breaks: 'A check shows its sentences.',
        from: 'await again(faults)',
        to: 'await again()',
      },
      {
        breaks: 'The page shows what a reload has changed.',
        from: `in effect.')\n    await again()`,
        to: `in effect.')`,
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/configuration.ts',
    test: page,
    changes: [
      {
        breaks: 'A search finds a setting in any case of letters.',
        from: 'words.trim().toLowerCase()',
        to: 'words.trim()',
      },
      {
        breaks: 'Defaults are left out unless they are asked for.',
        from: `(withDefaults || it.origin !== 'default')`,
        to: 'it.path.length > 0',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser-modules.ts',
    test: 'test/console.test.ts',
    changes: [
      {
        breaks: 'A served script has the tokens of the compiled one.',
        from: '(?!\\/\\/).)*[{,;])\\n/gm',
        to: '(?!\\/\\/).)*)\\n/gm',
      },
    ],
  },
]
