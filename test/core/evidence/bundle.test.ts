import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import t from 'tap'

interface Esbuild {
  build(options: object): Promise<{ outputFiles: readonly { contents: Uint8Array }[] }>
}

// tsx brings esbuild along.
const require = createRequire(createRequire(import.meta.url).resolve('tsx/package.json'))
const { build } = require('esbuild') as Esbuild

const bundled = async (entry: string) =>
  (
    await build({
      stdin: { contents: entry, resolveDir: process.cwd() },
      ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'browser', target: 'es2022' },
    })
  ).outputFiles[0]!.contents

const packed = async (entry: string): Promise<number> => gzipSync(await bundled(entry), { level: 9 }).length

t.test('what a page carries is small', async (t) => {
  const verifiers = await packed(`
    export { checkSnp } from './dist/core/sealed/evidence/snp.js'
    export { checkTdx } from './dist/core/sealed/evidence/tdx.js'
    export { checkNitro } from './dist/core/sealed/evidence/nitro.js'`)
  t.ok(verifiers <= 15 * 1024, `all three verifiers: ${verifiers} bytes`)
  const whole = await packed(`
    export { appraise } from './dist/core/sealed/evidence/appraise.js'
    export { parsePolicy } from './dist/core/sealed/evidence/policy.js'`)
  t.ok(whole <= 18.5 * 1024, `with policies, releases and words: ${whole} bytes`)
  t.ok(whole > verifiers && verifiers > 8 * 1024, 'and all of it is there')
})
