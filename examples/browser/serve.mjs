import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

// Serves this page, and the modules of the installed packages as they are: node examples/browser/serve.mjs
// The gateway has to list the page's origin under cors.origins.
const places = {
  '/sealgate/': new URL('../../../', import.meta.resolve('sealgate/client')),
  '/@noble/ciphers/': new URL('./', import.meta.resolve('@noble/ciphers/aes.js')),
  '/@noble/curves/': new URL('./', import.meta.resolve('@noble/curves/ed25519.js')),
  '/@noble/hashes/': new URL('./', import.meta.resolve('@noble/hashes/sha2.js')),
  '/@noble/post-quantum/': new URL('./', import.meta.resolve('@noble/post-quantum/hybrid.js')),
  '/': new URL('./', import.meta.url),
}
const types = { html: 'text/html', css: 'text/css', js: 'text/javascript', mjs: 'text/javascript' }

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost')
  const path = pathname === '/' ? '/index.html' : pathname
  const [, type] = /^(?:\/[\w@-][\w@.-]*)+\.(\w+)$/.exec(path) ?? []
  const [start, folder] = Object.entries(places).find(([start]) => path.startsWith(start))
  const bytes = Object.hasOwn(types, type ?? '')
    ? await readFile(new URL(path.slice(start.length), folder)).catch(() => null)
    : null
  response.writeHead(bytes === null ? 404 : 200, { 'content-type': bytes === null ? 'text/plain' : types[type] })
  response.end(bytes ?? 'not found')
})
server.listen(Number(process.env.PORT ?? 8790), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
)
