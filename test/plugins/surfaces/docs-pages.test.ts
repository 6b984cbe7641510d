import t from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { running } from '../../environments.ts'
import { spentBy } from '../../lab/hunt/processes.ts'

interface Description {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags: readonly string[] }>>>>
}

t.test('programs that read text get an index and a page of Markdown for each chapter', async (t) => {
  const gateway = await running(t, memory())
  const textOf = async (path: string) => {
    const answer = await fetch(`${gateway.base}${path}`)
    t.equal(answer.status, 200, path)
    t.match(answer.headers.get('content-type'), 'text/markdown', path)
    return answer.text()
  }
  const description = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as Description
  const index = await textOf('/llms.txt')
  t.match(index, /^# sealgate\n\n> \S/, 'the form of llms.txt: a title and a quoted sentence')
  const pages = [...index.matchAll(/^\* \[([^\]]+)\]\((\/docs\/[\w-]+\.md)\): \S/gm)]
  const names = pages.map(([, name]) => name)
  t.same(names, [...description.tags.map(({ name }) => name), 'Errors'], 'each chapter has a page')
  const texts = new Map<string, string>()
  for (const [, name = '', path = ''] of pages) texts.set(name, await textOf(path))
  for (const [path, operations] of Object.entries(description.paths))
    for (const [method, { tags }] of Object.entries(operations)) {
      const heading = `## ${method.toUpperCase()} ${path}\n`
      t.ok(texts.get(tags[0] ?? '')?.includes(heading), heading)
    }
  t.match(texts.get('Errors'), '* 429: ')
  t.match([...texts.values()].join('\n'), /curl .*\/admin\/keys/, 'an operation has its call')
  t.notMatch([...texts.values()].join('\n'), /<(?:code|p|li|b)\b/, 'and no markup of the page for people')
})

t.test('a page that is not there is a 404 in the envelope', async (t) => {
  const gateway = await running(t, memory())
  for (const path of ['/docs/nothing.md', '/docs/files', '/docs/constructor.md']) {
    const answer = await fetch(`${gateway.base}${path}`)
    t.equal(answer.status, 404, path)
    t.match(await answer.json(), { status: 404, data: null }, path)
  }
})

t.test('an error is described as its route writes it', async (t) => {
  const gateway = await running(t, memory())
  const description = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as Record<string, any>
  const resolved = (record: Record<string, any>): Record<string, any> =>
    record['$ref'] === undefined
      ? record
      : record['$ref']
          .slice(2)
          .split('/')
          .reduce((at: Record<string, any>, name: string) => at[name], description)
  const errorOf = (path: string, method: string, status: number) => {
    const response = resolved(description['paths'][path][method].responses[status])
    return Object.keys(resolved(response['content']['application/json'].schema)['properties'])
  }
  t.same(errorOf('/mcp', 'post', 429), ['jsonrpc', 'error'], 'by the protocol of agents')
  t.same(errorOf('/v1/messages', 'post', 529), ['type', 'error', 'request_id'], 'a status of the dialect’s own')
  for (const path of ['/rvenc/keys', '/rvenc/attestation'])
    t.ok(errorOf(path, 'get', 404).includes('support_id'), `${path} may name an enclave that is not there`)
})

t.test('numbers of a query, parts of files and refused methods are described as they are', async (t) => {
  const gateway = await running(t, memory())
  const { paths, components } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as Record<string, any>
  for (const path of ['/files/encrypted', '/admin/keys']) {
    const schemaOf = (wanted: string) =>
      paths[path].get.parameters.find(({ name }: { name: string }) => name === wanted).schema
    t.same(schemaOf('limit'), { type: 'integer', minimum: 1, maximum: 100, default: 20 }, path)
    t.same(schemaOf('offset'), { type: 'integer', minimum: 0, maximum: 999_999_999, default: 0 }, path)
  }
  const { 200: whole, 206: part } = paths['/files/encrypted/{id}/content'].get.responses
  t.same(part.content, whole.content, 'a range is bytes too')
  t.same(Object.keys(part.headers), [...Object.keys(whole.headers), 'content-range'])
  t.notOk(paths['/files/encrypted'].get.responses[206], 'no other route reads ranges')
  const refused = paths['/v1/responses'].get.responses[405]
  const { headers, content } = components.responses[refused.$ref.split('/').at(-1)]
  t.ok(headers.allow)
  t.equal(content['application/json'].example.error.code, 'method_not_supported')
})

const skip = spentBy(process.pid) > 0 ? false : 'the system does not tell how long a thread ran'
t.test('no turn of the loop makes much of what describes the interface', { skip }, async (t) => {
  for (const path of ['/openapi.json', '/docs', '/llms.txt']) {
    const gateway = await running(t, memory())
    const begun = spentBy(process.pid)
    let [before, longest, isOver] = [begun, 0, false]
    const look = () => {
      const now = spentBy(process.pid)
      longest = Math.max(longest, now - before)
      before = now
      if (!isOver) setImmediate(look)
    }
    look()
    await (await fetch(gateway.base + path)).bytes()
    isOver = true
    const share = longest / (spentBy(process.pid) - begun)
    t.ok(share < 0.45, `${path}: ${share.toFixed(2)} of the work in one turn`)
  }
})
