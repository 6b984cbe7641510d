import type { Changes } from './mutation.ts'

const browser = 'test/console-sealed.test.ts'
const server = 'test/console.test.ts'

export const playgrounds: readonly Changes[] = [
  {
    file: 'plugins/surfaces/console/browser/sealed/playground-client.ts',
    test: browser,
    changes: [
      {
        breaks: 'The client of a page takes no key of its reader.',
        from: 'if (Object.keys(more).length > 0) throw',
        to: 'if (Object.keys(more).length > 9) throw',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/sealed/file-pane.ts',
    test: browser,
    changes: [
      {
        breaks: 'A key of the reader goes nowhere.',
        from: 'if (holdsKek(await',
        to: 'if (false && holdsKek(await',
      },
      {
        breaks: 'A file of the playground goes with its page.',
        from: `  signal.addEventListener('abort', () => void forget().catch(() => undefined), { once: true })\n`,
        to: '',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/sealed/proof-pane.ts',
    test: browser,
    changes: [
      {
        breaks: 'Only a platform is green.',
        from: `verdictBanner(it.verified === 'platform', bannerWords(it))`,
        to: 'verdictBanner(true, bannerWords(it))',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/open.ts',
    test: browser,
    changes: [
      {
        breaks: 'The playground shows a replay that the enclave takes.',
        from: `if (entered === 'seen') throw`,
        to: `if (entered === 'seen' && key === null) throw`,
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/own-machine.ts',
    test: browser,
    changes: [
      {
        breaks: 'The token leaves the address.',
        from: `  history.replaceState(null, '', pathname)\n`,
        to: '',
      },
    ],
  },
  {
    file: 'adapters/production/commands/console/own-files.ts',
    test: browser,
    changes: [
      {
        breaks: 'A file of the own machine is indexed when its reader says so.',
        from: `index: query.get('index') === 'true'`,
        to: 'index: false',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/page.ts',
    test: browser,
    changes: [
      {
        breaks: 'The client of the playground loads with its page alone.',
        from: `name.startsWith('sealed/') ? 'sealed'`,
        to: `name.startsWith('sealed/never') ? 'sealed'`,
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser-modules.ts',
    test: server,
    changes: [
      {
        breaks: 'A served script has every word of the compiled one.',
        from: String.raw`(?:(?!\*\/)[^])*\*\/`,
        to: String.raw`[^]*?\*\/`,
      },
      {
        breaks: 'No space and no comment is taken out of a text.',
        from: "hasLongText(light) ? code.replace(sourceMap, '') : ",
        to: '',
      },
      {
        breaks: 'A served script names served scripts alone.',
        from: 'if (!known.has(name)) queue.push(to)',
        to: 'if (known.size < 9) queue.push(to)',
      },
    ],
  },
  {
    file: 'adapters/production/commands/console/routes.ts',
    test: server,
    changes: [
      {
        breaks: 'Nothing of the reader is served without the token.',
        from: '(isPage ? admitPage : admit)',
        to: 'admitPage',
      },
      {
        breaks: 'Only reading the page needs no token.',
        from: `request.method === 'GET' && /^`,
        to: '/^',
      },
    ],
  },
  {
    file: 'adapters/production/commands/console/forward.ts',
    test: server,
    changes: [
      {
        breaks: 'The key of the gateway goes to the named gateway alone.',
        from: `redirect: 'manual'`,
        to: `redirect: 'follow'`,
      },
    ],
  },
  {
    file: 'adapters/production/commands/console.ts',
    test: server,
    changes: [
      {
        breaks: 'The page is told no key of files.',
        from: 'kid: held?.kid ?? null',
        to: 'kid: held?.secrets.kek ?? null',
      },
    ],
  },
  {
    file: 'core/files/file-store.ts',
    test: 'test/files.test.ts',
    changes: [
      {
        breaks: 'An organisation is told what it stores itself.',
        from: 'stored: await stored.of(organization)',
        to: `stored: await stored.of('default')`,
      },
    ],
  },
]
