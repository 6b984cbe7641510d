import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

/** Bundles the server of the installed page by the script of the page, with the repository's esbuild, and asks the bundle. */
export const bundled = async (cwd) => {
  const page = readFileSync(join(cwd, 'node_modules/sealgate/docs/bundling.md'), 'utf8')
  for (const name of ['server.js', 'bundle.js']) {
    const [, code] = new RegExp(`<!-- file ${name} -->\n\`\`\`js\n(.*?)\n\`\`\``, 's').exec(page)
    writeFileSync(join(cwd, name), code)
  }
  symlinkSync(resolve('node_modules/esbuild'), join(cwd, 'node_modules/esbuild'))
  execFileSync('node', ['bundle.js'], { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  const server = spawn('node', ['server.mjs'], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const base = /^http:\S+/.exec(line)?.[0]
      if (base === undefined) continue
      const { status } = await fetch(`${base}/health`)
      if (status !== 200) throw new Error(`the bundle is not healthy: ${status}`)
      return
    }
    throw new Error('the bundle ended before it listened')
  } finally {
    server.kill('SIGKILL')
  }
}
