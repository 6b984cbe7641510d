// Makes the package `sealgate-client` in `dist/client-package`, from the sources that `sealgate/client` has: `npm run client`.
import { build } from 'esbuild'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const target = 'dist/client-package'
const wing = 'dist/plugins/sealed'
const entries = { index: `${wing}/client/own-client.js`, evidence: `${wing}/evidence/appraise.js` }
const { version, license, engines } = JSON.parse(readFileSync('package.json', 'utf8'))

rmSync(target, { recursive: true, force: true })

/** Node's own cryptography where the code runs in Node, Deno or Bun; an empty object in a page. */
const ownCrypto = `
const found = globalThis.process?.getBuiltinModule?.('node:crypto') ?? {}
export default found
export const { createCipheriv, createDecipheriv, createHash, createPrivateKey, createPublicKey, diffieHellman } = found
`
/** Names that \`imports\` of package.json gives to Node and to pages, by what each exports. */
const twofold = { '#aead': ['aead', 'hashing'], '#ml-kem': ['mlKem'], '#x25519': ['x25519'] }

/** One bundle for both: what runs on OpenSSL is chosen when the module is loaded. */
const bothWays = {
  name: 'both-ways',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^#(aead|ml-kem|x25519)$/ }, ({ path }) => ({ path, namespace: 'twofold', sideEffects: false }))
    onLoad({ filter: /.*/, namespace: 'twofold' }, ({ path }) => {
      const [file, names] = [path.slice(1), twofold[path]]
      const as = (form) => names.map((name) => `${name} as ${form}_${name}`).join()
      const chosen = names.map((name) => `export const ${name} = isNative ? native_${name} : portable_${name}\n`)
      return {
        resolveDir: `${wing}/wire`,
        contents: `
        import found from 'node:crypto'
        import { ${as('portable')} } from './${file}.js'
        import { ${as('native')} } from './${file}.node.js'
        const isNative = found.createPrivateKey !== undefined
        ${chosen.join('')}`,
      }
    })
    onResolve({ filter: /^node:crypto$/ }, ({ path }) => ({ path, namespace: 'own-crypto', sideEffects: false }))
    onLoad({ filter: /.*/, namespace: 'own-crypto' }, () => ({ contents: ownCrypto }))
  },
}

await build({
  entryPoints: entries,
  outdir: join(target, 'client'),
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  chunkNames: 'part-[hash]',
  legalComments: 'none',
  logLevel: 'error',
  plugins: [bothWays],
})

/** Copies the declarations that an entry reaches, in the folders that they have here; inner ones without their comments. */
const copied = new Set()
const declare = (file) => {
  if (copied.has(file)) return
  copied.add(file)
  const text = readFileSync(file, 'utf8')
  const path = join(target, 'types', relative('dist', file))
  const inner = !/\/(client|evidence)\//.test(file)
  const shown = inner ? text.replaceAll(/^ *\/\*\*[^]*?\*\/\n/gm, '') : text
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(
    path,
    shown.replace(/^\/\/# sourceMappingURL=.*$/m, '').replaceAll(/(['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'),
  )
  for (const [, name] of text.matchAll(/['"](\.\.?\/[^'"]+)\.(?:js|ts)['"]/g))
    declare(join(dirname(file), `${name}.d.ts`))
}
const typesOf = (file) => file.replace(/\.js$/, '.d.ts')
for (const file of Object.values(entries)) declare(typesOf(file))

const conditions = (name) => ({
  types: `./types/${relative('dist', typesOf(entries[name]))}`,
  browser: `./client/${name}.js`,
  default: `./client/${name}.js`,
})
const manifest = {
  name: 'sealgate-client',
  version,
  description:
    'Seals chat, decisions, audio, files and tools to the enclave of a sealgate gateway, in Node and in a page.',
  license,
  type: 'module',
  engines,
  sideEffects: false,
  exports: { '.': conditions('index'), './evidence': conditions('evidence'), './package.json': './package.json' },
  files: ['client', 'types', 'NOTICES.txt'],
  keywords: ['sealgate', 'confidential-computing', 'end-to-end-encryption', 'llm'],
}
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
cpSync('LICENSE', join(target, 'LICENSE'))

/** Libraries of one author have one licence, which is said once. */
const notices = new Set([
  ...['ciphers', 'curves', 'hashes', 'post-quantum'].map((name) =>
    readFileSync(`node_modules/@noble/${name}/LICENSE`, 'utf8'),
  ),
  readFileSync('node_modules/hpke/LICENSE.md', 'utf8'),
])
writeFileSync(
  join(target, 'NOTICES.txt'),
  `The client has @noble/ciphers, curves, hashes and post-quantum, and hpke inside.\n\n${[...notices].join('\n')}`,
)
writeFileSync(
  join(target, 'README.md'),
  `# sealgate-client

Seals chat, decisions, audio, files and tools to the enclave of a [sealgate](https://www.npmjs.com/package/sealgate) gateway.
It has no dependencies, and runs in Node, in pages, in Deno and in Bun. \`sealgate/client\` is the same code.

\`\`\`js
import { connect } from 'sealgate-client'

const client = connect({ baseUrl: 'https://gateway.example.org', apiKey, policy })
const answer = await client.chat.completions.create({
  model: 'llama',
  messages: [{ role: 'user', content: 'Who can read this?' }],
})
\`\`\`

A page without a bundler imports \`client/index.js\` as it is. The policy says which enclave the client trusts: \`docs/sealing.md\` and \`docs/evidence.md\` of sealgate describe it.
`,
)
