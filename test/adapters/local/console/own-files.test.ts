import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { memory } from '../../../../adapters/memory/index.ts'
import { ownFiles } from '../../../../adapters/local/console/own-files.ts'
import { connect, newKek, newRagDek } from '../../../../plugins/sealed/client/client.ts'
import { running, unhurried } from '../../../environments.ts'
import { opensHttp } from '../../../fakes/listening.ts'
import { until } from '../../../until.ts'

/** The routes of a reader's files, as the page calls them, before a gateway. */
const stage = async (t: Test) => {
  const { base, key } = await running(t, memory(), unhurried)
  const kek = newKek()
  const own = { kek, wrappedRagDek: newRagDek(kek), policy: { allowInsecureDev: true } }
  const serve = ownFiles(connect({ baseUrl: base, apiKey: key, ...own }))
  const server = createServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost')
    void serve({ request, response, signal: new AbortController().signal, query }, pathname)
  })
  const place = `${await opensHttp(t, server)}/own/files`
  return {
    /** The last event of an upload, with its data. */
    async put(query: string) {
      const answer = await fetch(`${place}?${query}`, { method: 'POST', body: 'The violet code book' })
      const [event, data] = (await answer.text()).trim().split('\n\n').at(-1)!.split('\n')
      return { event: event!.slice(7), ...(JSON.parse(data!.slice(6)) as object) }
    },
    async list() {
      const { data } = (await (await fetch(place)).json()) as { data: { files: { rag_status: string }[] } }
      return data.files.map(({ rag_status }) => rag_status)
    },
  }
}

t.test('a stored file is indexed when its second upload wishes it', async (t) => {
  const { put, list } = await stage(t)
  t.match(await put('name=a.txt'), { event: 'stored', name: 'a.txt', rag_status: 'none' })
  t.match(await put('name=a.txt'), { event: 'stored', rag_status: 'none' })
  t.match(await put('name=a.txt&index=true'), { event: 'stored', name: 'a.txt', rag_status: 'running' })
  t.ok(await until(async () => (await list()).join() === 'completed'))
})
