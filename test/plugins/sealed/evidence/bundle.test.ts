import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import t from 'tap'

interface Esbuild {
  build(options: object): Promise<{ outputFiles: readonly { contents: Uint8Array }[] }>
}

// tsx brings esbuild along.
const require = createRequire(createRequire(import.meta.url).resolve('tsx/package.json'))
const { build } = require('esbuild') as Esbuild

/** Bytes as they travel, of all that these modules need, without those that are loaded on demand. */
const packed = async (modules: Readonly<Record<string, string>>): Promise<number> => {
  const entry = Object.entries(modules).map(
    ([name, file]) => `export { ${name} } from './dist/plugins/sealed/evidence/${file}.js'`,
  )
  const { outputFiles } = await build({
    stdin: { contents: entry.join('\n'), resolveDir: process.cwd() },
    ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'browser', target: 'es2022' },
    // What is loaded on demand is measured where it is named above.
    external: ['./snp.js', './tdx.js', './nitro.js', './notices.js'],
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length
}

const budget = 15 * 1024
const always = { appraise: 'appraise', parsePolicy: 'policy' }
const each = { checkSnp: 'snp', checkTdx: 'tdx', checkNitro: 'nitro' }

t.test('the bundle of a page is small', async (t) => {
  const verifiers = await packed(each)
  t.ok(verifiers <= budget, `all three verifiers: ${verifiers} bytes`)
  t.ok(verifiers > 8 * 1024, 'and all of them are there')
  for (const [name, file] of Object.entries(each)) {
    const page = await packed({ ...always, [name]: file })
    t.ok(page <= budget, `policies, releases and ${file}: ${page} bytes`)
    t.ok(page > 8 * 1024, 'and all of it is there')
  }
  const whole = await packed({ ...always, ...each, readNotices: 'notices' })
  t.ok(whole <= 19 * 1024, `a page that meets every platform, with notices: ${whole} bytes`)
})
