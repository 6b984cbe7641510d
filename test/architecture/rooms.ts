const root = ['core/ports', 'core/dialects', 'core/inference', 'core/access', 'core'] as const

/** What every plugin may use of the core and of the wing that seals. */
const ofPlugins = [
  ...root,
  'core/http/route.ts',
  'core/http/reply.ts',
  'core/http/http-errors.ts',
  'plugins/shared',
  'plugins/sealed/wire',
] as const

/** What surfaces use beside it: the forms of routes, and parts of the core that operators ask and change. */
const ofSurfaces = [
  ...ofPlugins,
  'plugins/surfaces/shared',
  'core/http/access.ts',
  'core/http/concurrency.ts',
  'core/http/form.ts',
  'core/http/route.ts',
  'core/generations/current.ts',
  'core/generations/reload.ts',
] as const

/** Surfaces that hand sealed bytes to the enclave keep its log and its files. */
const ofSealedSurfaces = [...ofSurfaces, 'plugins/surfaces', 'plugins/sealed/log', 'plugins/sealed/files'] as const

/** Which room may import from which; the longest match wins. `core` alone is the files at its root. */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  // Routes are data: ports name their form, and who calls them. Settings are a port of their own.
  'core/ports': ['core', 'core/http/route.ts', 'core/access/caller.ts'],
  'core/dialects': ['core/ports', 'core'],
  'core/access': ['core/ports', 'core'],
  'core/inference': ['core/ports', 'core/dialects', 'core/access', 'core'],
  'core/generations': ['core/ports', 'core/access', 'core/inference', 'core'],
  'core/http': ['core/ports', 'core/access', 'core/dialects', 'core/generations', 'core'],
  core: ['core/ports', 'core/access', 'core/dialects', 'core/generations', 'core/http', 'core/inference'],
  // The rule on parts says what plugins import of each other.
  plugins: [...ofPlugins, 'plugins/providers/sealed'],
  'plugins/shared': ofPlugins,
  // A backend behind another gateway's enclave is a client of that gateway.
  'plugins/providers/sealed': [...ofPlugins, 'plugins/providers', 'plugins/sealed/client', 'plugins/sealed/evidence'],
  // Bodies for services that exist are sealed by the protocol of others.
  'plugins/backend-evidence': [...ofPlugins, 'plugins/backend-evidence/shared', 'plugins/sealed/ehbp'],
  'plugins/usage': ofPlugins,
  'plugins/observers': ofPlugins,
  'plugins/surfaces': [
    ...ofSurfaces,
    'plugins/surfaces/admin',
    'plugins/surfaces/index',
    'plugins/surfaces/rvenc',
    'plugins/surfaces/ehbp',
    'plugins/surfaces/files',
    'plugins/surfaces/mcp',
    'plugins/surfaces/tools',
  ],
  'plugins/surfaces/shared': [...ofSurfaces, 'plugins/surfaces', 'plugins/sealed/log'],
  // What observers and the ledger have seen is asked by their ports.
  'plugins/surfaces/admin': [...ofSurfaces, 'plugins/surfaces', 'plugins/usage', 'plugins/observers'],
  'plugins/surfaces/docs': [...ofSurfaces, 'plugins/surfaces', 'plugins/observers/prometheus/metrics.ts'],
  'plugins/surfaces/index': ofSealedSurfaces,
  'plugins/surfaces/rvenc': ofSealedSurfaces,
  'plugins/surfaces/ehbp': [
    ...ofSurfaces,
    'plugins/surfaces',
    'plugins/sealed/ehbp/chunks.ts',
    'plugins/sealed/ehbp/key-config.ts',
  ],
  'plugins/surfaces/files': ofSealedSurfaces,
  'plugins/surfaces/tools': ofSealedSurfaces,
  // Tools of other servers are found by the ranking of files.
  'plugins/surfaces/mcp': [...ofSurfaces, 'plugins/surfaces', 'plugins/sealed/retrieval'],
  // The console runs in browsers, and the gateway hands out its bytes.
  'plugins/surfaces/console/browser': ['plugins/surfaces/console/browser/sealed/playground.ts'],
  // A browser loads the client only when the page of the playground opens.
  'plugins/surfaces/console/browser/sealed': [
    'plugins/surfaces/console/browser',
    'plugins/sealed/client',
    'plugins/sealed/evidence',
    'plugins/sealed/wire',
  ],
  'plugins/sealed': [...root, 'plugins/shared', 'plugins/sealed/wire'],
  'plugins/sealed/wire': [],
  'plugins/sealed/retrieval': ['core/ports', 'core/errors.ts', 'plugins/shared/work-in-turns.ts'],
  'plugins/sealed/enclave': [
    ...root,
    'plugins/shared',
    'plugins/sealed',
    'plugins/sealed/ehbp',
    'plugins/sealed/retrieval',
    'plugins/sealed/wire',
  ],
  // The protocol of others, by a package that the rooms beside it may not name.
  'plugins/sealed/ehbp': ['plugins/sealed/wire'],
  'plugins/sealed/log': ['core/ports', 'core', 'plugins/sealed/log-signer.ts', 'plugins/sealed/wire'],
  'plugins/sealed/files': ['core/ports', 'core/dialects', 'core', 'plugins/shared', 'plugins/sealed/wire'],
  'plugins/sealed/evidence': ['plugins/sealed/wire/bytes.ts'],
  'plugins/sealed/client': [
    'plugins/sealed/wire',
    'plugins/sealed/ehbp',
    'plugins/sealed/evidence',
    'plugins/shared/sse.ts',
    'core/ports/upstream.ts',
  ],
  // A gateway of its own, made as an embedder makes one.
  'adapters/drill': [
    'adapters/memory',
    'adapters/production/network/on-drain.ts',
    'adapters/production/platform.ts',
    ...root,
    'plugins',
    'plugins/surfaces/admin',
  ],
  'adapters/memory': [
    'adapters/drill',
    ...root,
    'core/http/linked-list.ts',
    'plugins',
    'plugins/shared',
    'plugins/usage',
    'plugins/observers',
    'plugins/surfaces',
    'plugins/surfaces/admin',
    'plugins/surfaces/docs',
    'plugins/surfaces/mcp',
    'plugins/surfaces/rvenc',
    'plugins/surfaces/shared/sealed-streams.ts',
    'plugins/sealed/enclave',
    'plugins/sealed/files',
    'plugins/sealed/log',
  ],
  // What runs beside a caller. It reads files and opens connections as the gateway does.
  'adapters/local': [
    'adapters/memory',
    'adapters/production/commands/help.ts',
    'adapters/production/commands/judge-document.ts',
    'adapters/production/commands/judge-boot.ts',
    'adapters/production/config/named-plugins.ts',
    'adapters/production/config/jsonc.ts',
    'adapters/production/config/read-config.ts',
    'adapters/production/config/version.ts',
    'adapters/production/network/on-drain.ts',
    'adapters/production/platform.ts',
    ...root,
    'core/http/context.ts',
    'core/http/http-errors.ts',
    'core/http/middleware.ts',
    'plugins',
    'plugins/providers/sealed',
    'plugins/shared',
    'plugins/surfaces',
    'plugins/sealed/client',
    'plugins/sealed/evidence',
    'plugins/sealed/wire',
  ],
  'adapters/production': [
    'adapters/drill',
    'adapters/local',
    'adapters/memory',
    ...root,
    'core/generations',
    // Answers of foreign addresses are held to the chunks that bodies are.
    'core/http/unwanted-bytes.ts',
    'plugins',
    'plugins/shared',
    'plugins/usage',
    'plugins/observers',
    'plugins/surfaces',
    'plugins/surfaces/admin',
    // The sums over labelled cases, which the console's page of decisions makes too.
    'plugins/surfaces/console/browser/chance.ts',
    'plugins/surfaces/console/browser/figures.ts',
    'plugins/surfaces/console/browser/promise.ts',
    'plugins/sealed',
    'plugins/sealed/client',
    'plugins/sealed/enclave',
    'plugins/sealed/evidence',
    'plugins/sealed/files',
    'plugins/sealed/wire',
  ],
  examples: ['core', 'core/ports', 'adapters/memory', 'adapters/production', 'plugins', 'plugins/surfaces'],
}

/** Families with a folder of parts and no file for each plugin. */
const folders = ['shared', 'sealed', 'usage']

/** A file that discovery takes for a plugin: it stands in its family's folder. */
export const isPluginFile = (file: string): boolean =>
  new RegExp(`^plugins/(?!(?:${folders.join('|')})/)[^/]+/[^/.]+\\.ts$`).test(file)

/**
 * A plugin is a file of its family's folder and may have a folder of parts with its own name. It may import those parts,
 * those that its family shares, and those that all families share. The table alone decides on the wing that seals.
 */
export const mayImportPart = (file: string, to: string): boolean => {
  const [, family = '', part = ''] = file.split('/').map((name) => name.replace(/\.ts$/, ''))
  if (to.startsWith('plugins/shared/') || to.startsWith('plugins/sealed/')) return true
  const isAsked = to.startsWith('plugins/usage/') || to.startsWith('plugins/observers/')
  if (family === 'surfaces' && isAsked) return true
  if (family === 'usage') return to.startsWith('plugins/usage/')
  const shared = `plugins/${family}/shared/`
  return to.startsWith(shared) || (part !== 'shared' && to.startsWith(`plugins/${family}/${part}/`))
}

/** Packages that one place alone may name. */
export const only: Readonly<Record<string, string>> = {
  tsyringe: 'core/container.ts',
  'reflect-metadata': 'core/container.ts',
  koa: 'core/http/',
  '@koa/router': 'core/http/',
  formidable: 'core/http/',
  'node-fetch': 'adapters/production/network/fetch-outside.ts',
  undici: 'adapters/production/network/',
  jose: 'plugins/credentials/oidc/token-signature.ts',
  '@noble/post-quantum': 'plugins/sealed/wire/',
  hpke: 'plugins/sealed/ehbp/',
  ws: 'plugins/surfaces/v1/socket/',
}

/** Names that one place alone may import from a file. */
export const guarded = [
  { name: 'opener', from: 'plugins/sealed/wire/kem.ts', by: /^plugins\/sealed\/enclave\/epochs\.ts$/ },
  { name: 'signingPair', from: 'plugins/sealed/wire/signature.ts', by: /^plugins\/sealed\/enclave\/receipts\.ts$/ },
  {
    name: '*',
    from: 'plugins/sealed/enclave/',
    by: /^(plugins\/sealed\/enclave\/|adapters\/memory\/enclave\.ts$|adapters\/production\/enclave\/enclave-main\.ts$)/,
  },
] as const

export const roomOf = (file: string): string | undefined =>
  Object.keys(rooms)
    .filter((name) => file.startsWith(`${name}/`))
    .sort((one, other) => other.length - one.length)[0]
