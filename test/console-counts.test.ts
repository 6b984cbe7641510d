import './fakes/unwatched.ts'
import t from 'tap'
import { withoutChromium } from './fakes/chromium.ts'
import { consoleStage } from './fakes/console-stage.ts'

const count = { requests: 1, input: 2, output: 3, cached: 0, reasoning: 0, unanswered: 0, unpriced: 0, cost: 0.5 }
const day = new Date().toISOString().slice(0, 10)
const eve = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

/** The place of a page in a list of so many rows, and rows by their numbers. */
const pageOf = (url: string, total: number) => {
  const query = new URL(url).searchParams
  const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))]
  const numbers = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, at) => offset + at)
  return { numbers, pagination: { limit, offset, total } }
}

t.test('the console of a gateway with more use than the console reads', { skip: withoutChromium }, async (t) => {
  const stage = await consoleStage(t)
  const tab = await stage.browse()
  const { page } = tab
  const rows = 2_345
  await page.route(/\/admin\/usage\?/, (route, request) => {
    const { numbers, pagination } = pageOf(request.url(), rows)
    const usage = numbers.map((number) => ({
      ...{ organization: 'default', key: `key-${number}`, user: `user-${number}`, team: 'blue', day, model: 'priced' },
      ...count,
    }))
    return route.fulfill({ json: { data: { usage, pagination } } })
  })
  await page.route(/\/admin\/usage\/sums\?/, (route, request) => {
    const query = new URL(request.url()).searchParams
    const isLast = query.has('after')
    const names = { team: ['blue', 'blue'], day: [eve, day] }[query.get('by') as string] ?? ['priced', 'unpriced']
    const name = names[Number(isLast)]
    const sums = [{ name, ...count, requests: isLast ? 345 : 2_000 }]
    return route.fulfill({ json: { data: { by: query.get('by'), sums, next: isLast ? null : name } } })
  })
  await tab.signIn(stage.key)

  await t.test('Home counts all requests of the day', async (t) => {
    t.match(await page.innerText('dl.tiles'), /Requests today\s+2,345\b/)
    t.match(await page.innerText('dl.tiles'), /Cost today\s+1\.00/)
  })

  await t.test('the page of usage counts all requests, also those beyond the rows that it reads', async (t) => {
    for (const by of ['day', 'model', 'key']) {
      await tab.go(`#/usage?by=${by}`, 'Usage and cost')
      t.match(await page.innerText('dl.tiles'), /Requests\s+2,345\b/, by)
    }
  })

  await t.test('usage of one team and its time before say which rows they have', async (t) => {
    await tab.go('#/usage?team=blue', 'Usage and cost')
    t.match(await page.innerText('[role=alert]'), 'The sums hold the newest 2,000 of 2,345 rows: choose fewer days.')
  })

  await t.test('the page of a team says which rows its tables have', async (t) => {
    await tab.go('#/teams/blue', 'blue')
    const words = await page.innerText('main')
    t.match(words, 'These sums have the newest 2,000 of 2,345 rows of this month.')
    t.match(words, /People\s+at least 2,000 this month/)
    t.same(await tab.axe(), [])
  })
})
