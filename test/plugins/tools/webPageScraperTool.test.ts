import '../../fakes/unwatched.ts'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import t, { type Test } from 'tap'
import { fetch } from '../../../adapters/production/platform.ts'
import { BadRequest, Unconfigured } from '../../../core/errors.ts'
import { findChromium, unwantedOptions, offlineOptions } from '../../../plugins/tools/webPageScraperTool/chromium.ts'
import { decodePage } from '../../../plugins/shared/charset.ts'
import { answerBrowser } from '../../../plugins/tools/webPageScraperTool/render.ts'
import type { BrowserRequest } from '../../../plugins/tools/webPageScraperTool/render-process.ts'
import { use } from '../../../core/plugin.ts'
import { Fetch, type Answer, type Door } from '../../../core/ports/platform.ts'
import { Tool } from '../../../core/ports/tool.ts'
import webPageScraperTool from '../../../plugins/tools/webPageScraperTool.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { inwardUrls } from '../../fakes/inward-urls.ts'
import { listening } from '../../fakes/listening.ts'
import { fitted } from '../../fitted.ts'
import { quietClock } from '../../slowness.ts'
import { until } from '../../until.ts'
import { failed } from '../../helpers.ts'

interface Scraped {
  readonly url: string
  readonly title: string | null
  readonly description: string | null
  readonly language: string | null
  readonly published: string | null
  readonly text: string
  readonly links: readonly { text: string; url: string }[]
  readonly truncated: boolean
  readonly rendered: boolean
}

// The web of these tests is at one address of this machine, and what nobody may reach at another.
const open = '127.0.0.2'
const closed = '127.0.0.1'

const path = await findChromium()
const skip = path ? {} : { skip: 'no Chromium here' }

type Answers = Readonly<Record<string, readonly [type: string | null, body: string | Buffer]>>

const serving = (t: Test, server: Server) => listening(t, server, open)

/** A site of these pages; what is at `/to/<address>` redirects there. */
const site = async (t: Test, answers: Answers) => {
  const asked: string[] = []
  const listener: RequestListener = ({ url = '', method }, response) => {
    asked.push(`${method} ${url}`)
    const [type, body] = answers[url.split('?')[0]!] ?? [null, null]
    if (url.startsWith('/to/')) response.writeHead(302, { location: decodeURIComponent(url.slice(4)) }).end()
    else if (body === null) response.writeHead(404, { 'content-type': 'text/html' }).end('<p>Nothing is here.</p>')
    else response.writeHead(200, type === null ? {} : { 'content-type': type }).end(body)
  }
  const { port } = await serving(t, createServer(listener))
  return { port, at: (page: string) => `http://${open}:${port}${page}`, asked }
}

const scraper = (t: Test, ports: readonly number[], settings: object = {}) => {
  const door = use(fetch, { outside: { ports: [...ports], allow: [open] } })
  const container = fitted(door, use(webPageScraperTool, { allowRoot: true, ...settings }))
  t.teardown(() => container.dispose())
  const tool = container.supply({ tools: Tool }).tools[0]!
  const scrape = (url: string, renderJs = false, signal = AbortSignal.timeout(60_000)) =>
    (tool.kind === 'simple' ? tool.run({ url, renderJs }, signal) : Promise.reject(tool.kind)) as Promise<Scraped>
  return { tool, scrape, dispose: () => container.dispose() }
}

const sample = (name: string): Buffer => readFileSync(`test/vectors/files/page/${name}`)
const news = sample('news-with-navigation.html')

t.test('contract', async (t) => {
  const { port, at } = await site(t, { '/news': ['text/html', news] })
  await conform(t, tool.contract, (t) => ({
    tool: scraper(t, [port]).tool,
    good: { params: { url: at('/news'), renderJs: false } },
    bad: { params: { url: `http://${closed}:${port}/secret` } },
  }))
})

t.test('an article is read without its surroundings', async (t) => {
  const { port, at } = await site(t, { '/news/wax': ['text/html', news] })
  const page = await scraper(t, [port]).scrape(at('/news/wax'))
  t.match(page, {
    url: at('/news/wax'),
    title: 'Wax shortage closes three offices',
    description: 'Letters wait as the red wax runs out.',
    language: 'en-GB',
    published: '2025-03-02T08:30:00Z',
    truncated: false,
    rendered: false,
  })
  t.match(
    page.text,
    /how long the shortage would last\.\n\nThe guild had ordered four hundred pounds in the autumn, but/,
  )
  t.match(page.text, /want their invoices to look like that\.$/, 'to its end')
  t.notMatch(page.text, /partners|Weather|new stamp|Related|Imprint|JavaScript|track/, 'and nothing else')
  t.same(page.links.slice(0, 2), [
    { text: 'A. Clerk', url: at('/people/clerk') },
    { text: 'four hundred pounds', url: at('/news/reports/wax.html') },
  ])
  t.ok(
    page.links.some(({ text, url }) => text === 'Shop' && url === 'https://shop.example/stamp'),
    'the other links come after those of the article',
  )
  t.notOk(
    page.links.some(({ url }) => !/^https?:/.test(url)),
    'all of them lead somewhere',
  )
})

t.test('a page that is no article is read', async (t) => {
  const { port, at } = await site(t, {
    '/files/': ['text/html', sample('folder-listing-by-python.html')],
    '/bare': [
      'text/html',
      '<!doctype html><title>Bare</title><base href="/deep/"><p>One<br>two<p>three <a href=x>x</a>',
    ],
    '/table': ['text/html', sample('article-by-libreoffice.html')],
    '/text': ['text/plain', 'a < b\n  & c'],
    '/json': ['application/problem+json', '{"a":[1,2]}'],
    '/feed': ['application/rss+xml', '<rss><title>Feed</title></rss>'],
    '/silent': [null, '<p>Says nothing of itself'],
  })
  const { scrape } = scraper(t, [port])
  const expected = {
    '/files/': {
      title: 'Directory listing for /',
      text: 'Directory listing for /\n\n- a letter.txt\n- seal.png\n- ümlaut & more.txt',
      links: [{ text: 'a letter.txt', url: at('/files/a%20letter.txt') }],
    },
    '/bare': { title: 'Bare', text: 'One\ntwo\n\nthree x', links: [{ url: at('/deep/x') }] },
    '/table': { text: /Wachs\tGrad\nrot\t62\nschwarz\t65\n\nMehr/ },
    '/text': { title: null, text: 'a < b\n  & c', links: [] },
    '/json': { text: '{"a":[1,2]}' },
    '/feed': { text: '<rss><title>Feed</title></rss>' },
    '/silent': { text: 'Says nothing of itself' },
  }
  const check = async ([page, found]: [string, object]) => t.match(await scrape(at(page)), found, page)
  await Promise.all(Object.entries(expected).map(check))
})

t.test('a long title and a long text of a link end with a whole character', async (t) => {
  const long = (letters: number) => `${'a'.repeat(letters - 1)}😀x`
  const { port, at } = await site(t, {
    '/': ['text/html', `<meta charset=utf-8><title>${long(500)}</title><p>Words <a href=b>${long(200)}</a>`],
  })
  const { title, links } = await scraper(t, [port]).scrape(at('/'))
  t.equal(title, 'a'.repeat(499))
  t.equal(links[0]?.text, 'a'.repeat(199))
})

t.test('reads the encoding that a page is in', async (t) => {
  const { port, at } = await site(t, {
    '/meta': ['text/html', sample('article-in-windows-1252-by-meta.html')],
    '/header': ['text/html; charset="Shift_JIS"', sample('page-in-shift-jis-by-header.html')],
  })
  const { scrape } = scraper(t, [port])
  const [meta, header] = await Promise.all([scrape(at('/meta')), scrape(at('/header'))])
  t.match(meta.text, 'was „darin“ stand – aus gutem Grund')
  t.match(header, { title: '手紙の封じ方', text: /蝋を溶かし、紙に落とし、印を押す。/, language: 'ja' })

  const cases: readonly (readonly [Buffer, string, string])[] = [
    [Buffer.from('\ufeffäöü €', 'utf16le'), 'text/html; charset=latin1', 'äöü €'],
    [Buffer.from('äöü € – 手'), 'text/html', 'äöü € – 手'],
    [Buffer.from('cut: ä').subarray(0, -1), 'text/html', 'cut: '],
    [Buffer.from('\xe4\xf6\xfc \x80 \x96', 'latin1'), 'text/html', 'äöü € –'],
    [Buffer.from('<meta charset="utf-16">ä'), 'text/html; charset=klingon', '<meta charset="utf-16">ä'],
    [
      Buffer.from('<?xml version="1.0" encoding="ISO-8859-2"?>\xb1', 'latin1'),
      'text/xml',
      '<?xml version="1.0" encoding="ISO-8859-2"?>ą',
    ],
  ]
  for (const [bytes, type, text] of cases) t.equal(decodePage(bytes, type), text, `${type} ${text}`)
})

t.test('an element of a page of XML may close itself', async (t) => {
  const page = [
    '<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>News</title>',
    '<script src="a.js?x=1>0" /></head><body><!-- <style/> \'it --><p>One<br/>two</p><a id="there"/>',
    '<iframe src="b"/><textarea/><p>Three <a href="more">more</a></p></body></html>',
  ].join('\n')
  const { port, at } = await site(t, {
    '/xml': ['application/xhtml+xml; charset=utf-8', page],
    '/html': ['text/html', page],
    '/cut': ['application/xhtml+xml', '<p>Whole</p><script/><p>and cut</p><script src="'],
  })
  const { scrape } = scraper(t, [port])
  t.match(await scrape(at('/xml')), { title: 'News', text: 'One\ntwo\n\nThree more', links: [{ text: 'more' }] })
  t.equal((await scrape(at('/html'))).text, '', 'a browser takes the rest for the script, too')
  t.equal((await scrape(at('/cut'))).text, 'Whole\n\nand cut')
})

t.test('a large page is cut and marked', async (t) => {
  const paragraph = '<p>Lorem ipsum, dolor sit amet, consectetur adipiscing elit.</p>\n'
  const links = Array.from({ length: 300 }, (_, at) => `<a href="/${at}">${at}</a>`).join(' ')
  const { port, at } = await site(t, {
    '/long': ['text/html', `<p>begins</p>${paragraph.repeat(5000)}`],
    '/endless': ['text/plain', Buffer.alloc(9 * 1024 * 1024, 'a ')],
    '/links': ['text/html', links],
    '/deep': ['text/html', `${'<div>'.repeat(3000)}hello`],
  })
  const { scrape } = scraper(t, [port])
  const pages = ['/long', '/endless', '/links', '/deep'].map((page) => scrape(at(page)))
  const [long, endless, many, deep] = (await Promise.all(pages)) as [Scraped, Scraped, Scraped, Scraped]
  t.match(long, { truncated: true, text: /^begins/ })
  t.equal(long.text.length, 200_000)
  t.equal(endless.truncated, true)
  t.equal(endless.text.length, 200_000)
  t.equal(many.truncated, true)
  t.equal(many.links.length, 200)
  t.match(deep, { text: 'hello', truncated: false })
})

t.test('the error names the fault of an address', async (t) => {
  const { port, at } = await site(t, { '/zip': ['application/zip', 'PK'], '/odd': [null, Buffer.from([0, 1, 2])] })
  const { scrape } = scraper(t, [port])
  const expected = { '/nothing': 'Expected a page that answers', '/zip': /HTML, text/, '/odd': /HTML, text/ }
  for (const [page, url] of Object.entries(expected)) {
    const refused = await failed(scrape(at(page)))
    t.ok(refused instanceof BadRequest, page)
    t.match(refused, { message: 'The page could not be loaded', validator: { url } }, page)
  }
})

t.test('follows a redirect, and tells where it led when the door does', async (t) => {
  const { port, at } = await site(t, { '/there/': ['text/html', '<p>Here it is. <a href=more>More</a>'] })
  const there = at('/there/')
  t.match(await scraper(t, [port]).scrape(at(`/to/${encodeURIComponent(there)}`)), { text: 'Here it is. More' })

  const container = fitted(use(fetch, { outside: { ports: [port], allow: [open] } }))
  t.teardown(() => container.dispose())
  const { door } = container.supply({ door: Fetch })
  const telling: Fetch = {
    ...door,
    outside: async (url, ask) => Object.assign(await door.outside(url, ask), { url: there }) as Answer,
  }
  const tool = webPageScraperTool.create({ fetch: telling }, { allowRoot: false }, 'webPageScraperTool')
  if (tool.kind !== 'simple') return t.fail('is simple')
  const page = await tool.run({ url: at(`/to/${encodeURIComponent(there)}`) }, AbortSignal.timeout(10_000))
  t.match(page, { url: there, links: [{ text: 'More', url: `${there}more` }] })
})

/** What nobody may reach, on TCP and UDP. */
const secret = async (t: Test) => {
  const { port, sockets } = await listening(
    t,
    createServer((_, response) => response.end('secret')),
    closed,
  )
  const socket = createSocket('udp4')
  let packets = 0
  socket.on('message', () => packets++)
  socket.bind(port, closed)
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  const seen = () => sockets.length + packets
  /** Whether anybody who came would have been seen. */
  const proven = async () => {
    const before = seen()
    const came = connect(port, closed)
    await once(came, 'connect')
    const sender = createSocket('udp4')
    sender.send('x', port, closed)
    for (let tries = 0; tries < 100 && seen() < before + 2; tries++) await wait(5)
    came.destroy()
    sender.close()
    return seen() === before + 2
  }
  return { port, seen, proven }
}

t.test('no spelling and no redirect leads inside', async (t) => {
  const { port, seen, proven } = await secret(t)
  const web = await site(t, {})
  const { scrape } = scraper(t, [web.port, port])
  const spellings = inwardUrls
    .filter((url, at) => at % 5 === 0 && !/example|nip\.io|localtest/.test(url))
    .map((url) => url.replaceAll('PORT', String(port)))
  t.ok(spellings.length >= 25, `${spellings.length} spellings`)
  for (const url of spellings) {
    const refused = await failed(scrape(url, true))
    t.ok(refused instanceof BadRequest && refused.message === 'The address is not allowed', JSON.stringify(url))
    // Not every spelling can stand in a header.
    if (!/^[!-~]+$/.test(url)) continue
    const led = await failed(scrape(web.at(`/to/${encodeURIComponent(url)}`)))
    t.ok(led instanceof BadRequest && led.message === 'The address is not allowed', `a redirect to ${url}`)
  }
  t.equal(seen(), 0)
  t.ok(await proven(), 'somebody would have been seen')
})

/** Tries every way out of a browser, and writes down how it went. */
const attackPage = readFileSync('test/fakes/attack-page.html', 'utf8')
const attacks = (port: number, extra = '') =>
  attackPage
    .replaceAll('{{closed}}', closed)
    .replaceAll('{{port}}', `${port}`)
    .replace('{{extra}}', () => extra)

t.test('a page gets nothing from inside through a browser, nor past the limits', skip, async (t) => {
  const { port, seen, proven } = await secret(t)
  const crowd = `for (let i = 0; i < 150; i++) all.push(fetch("/crowd?" + i).catch(() => {}))
    document.body.append(Object.assign(document.createElement('iframe'), { src: 'file:///etc/passwd' }))
    for (const place of ['file:///etc/passwd', 'data:text/html,reached'])
      all.push(tried('leave', () => void (location.href = place)).then(() => new Promise((done) => setTimeout(done, 50))))`
  const web = await site(t, {
    '/attack': ['text/html', attacks(port, crowd)],
    '/service.js': ['text/javascript', ''],
    '/crowd': ['text/plain', 'one'],
  })
  const page = await scraper(t, [web.port, port]).scrape(web.at('/attack'), true)
  t.equal(page.rendered, true)
  t.match(page.text, / all\n/, 'everything was tried')
  t.notMatch(page.text, /reached|root:/)
  for (const way of ['fetch', 'beacon', 'websocket', 'worker', 'call', 'framecall']) t.match(page.text, ` ${way}=`)
  t.equal(seen(), 0, 'nobody came')
  const crowded = web.asked.filter((request) => request.includes('crowd')).length
  t.ok(crowded > 50 && crowded <= 100, `${crowded} of 150 requests`)
  t.equal(page.truncated, true)
  t.ok(await proven(), 'somebody would have been seen')
})

t.test('a browser reaches nothing by itself, were there no interception', skip, async (t) => {
  const { port, seen, proven } = await secret(t)
  const args = [...offlineOptions]
  const browser = await chromium.launch({ executablePath: path!, args, ignoreDefaultArgs: [...unwantedOptions] })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  await page.route('https://start.example/', (route) =>
    route.fulfill({ contentType: 'text/html', body: attacks(port).replaceAll('"http://', '"//') }),
  )
  await page.goto('https://start.example/', { waitUntil: 'commit' })
  await page.waitForFunction('document.querySelector("#log").textContent.endsWith(" all")')
  const told = await page.textContent('#log')
  t.notMatch(told, /reached/)
  t.match(told, / call=done/, 'WebRTC was there to be tried')
  await browser.close()
  t.equal(seen(), 0, 'nobody came')
  t.ok(await proven(), 'somebody would have been seen')
})

t.test('the text that scripts make is read', skip, async (t) => {
  const { port, at, asked } = await site(t, {
    '/app': [
      'text/html',
      '<!doctype html><title>App</title><div id=root>Loading</div><script type=module src=/app.js></script><img src=/logo.png>',
    ],
    '/app.js': [
      'text/javascript',
      'import { show } from "./show.js"; show((await (await fetch("/data", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" })).json()).say)',
    ],
    '/show.js': [
      'text/javascript',
      'export const show = (say) => { root.innerHTML = "<p>" + say + "</p><a href=next>Next</a>"; document.title = "Shown"; history.pushState(0, "", "/shown/") }',
    ],
    '/data': ['application/json', '{"say":"Rendered – äöü"}'],
  })
  const { scrape } = scraper(t, [port])
  t.match(await scrape(at('/app')), { title: 'App', text: 'Loading', rendered: false })
  t.match(await scrape(at('/app'), true), {
    url: at('/shown/'),
    title: 'Shown',
    text: 'Rendered – äöü\n\nNext',
    links: [{ text: 'Next', url: at('/shown/next') }],
    rendered: true,
    truncated: false,
  })
  t.same(asked, ['GET /app', 'GET /app', 'GET /app.js', 'GET /show.js', 'POST /data'], 'and loads no pictures')
})

t.test('a browser gets only allowed answers', async (t) => {
  const page = {
    url: 'https://a.example/',
    status: 200,
    headers: {},
    bytes: Buffer.from('page'),
    cut: false,
    html: true,
  }
  const asked: string[] = []
  const answers: Readonly<
    Record<string, { status?: number; url?: string; size?: number; headers?: Record<string, string> }>
  > = {
    '/away': { url: 'https://b.example/secret' },
    '/public': { url: 'https://b.example/font', headers: { 'access-control-allow-origin': '*' } },
    '/moved': { status: 302 },
    '/large': { size: 9 * 1024 * 1024 },
  }
  const door: Door = async (url) => {
    const { status = 200, url: landed = url, size = 4, headers = {} } = answers[new URL(url).pathname] ?? {}
    asked.push(url)
    const body = (async function* () {
      yield Buffer.alloc(size, 'a')
    })()
    return Object.assign(
      { status, header: (name: string) => headers[name] ?? null, body, discard() {} },
      { url: landed },
    )
  }
  const { have, wasCut } = answerBrowser(page, door, new AbortController().signal)
  const want = (url: string, more: Partial<BrowserRequest> = {}) =>
    have({ kind: 'want', id: 1, page: false, url, method: 'GET', headers: {}, body: null, ...more })

  t.equal(Buffer.from((await want(page.url, { page: true }))!.bytes).toString(), 'page', 'the page itself, once')
  t.same(asked, [])
  t.ok(await want('https://a.example/script'))
  t.equal(await want('https://a.example/next', { page: true }), null, 'only a page can stand in the window')
  t.equal(await want('https://a.example/moved'), null, 'no redirect')
  t.equal(await want('https://a.example/away'), null, 'nothing of another origin under the name of this one')
  t.ok(await want('https://a.example/public'), 'but what is for everybody')

  const origin = 'https://a.example'
  const foreign = (headers: Record<string, string>) => want('https://b.example/', { method: 'POST', headers })
  const before = asked.length
  t.equal(
    await foreign({ origin, 'content-type': 'application/json' }),
    null,
    'what another origin was not asked about',
  )
  t.equal(await foreign({ origin, authorization: 'Bearer a' }), null)
  t.equal(await foreign({ origin: 'null', 'x-requested-with': 'a' }), null)
  t.equal(asked.length, before, 'is not sent')
  t.ok(await foreign({ origin, 'content-type': 'text/plain;charset=UTF-8' }))
  t.ok(await foreign({ origin: 'https://b.example', 'content-type': 'application/json' }))

  t.equal(wasCut(), false)
  const large = await Promise.all([1, 2, 3].map(() => want('https://a.example/large')))
  t.equal(large.filter((tool) => tool !== null).length, 2, 'so many bytes')
  t.equal(wasCut(), true)
})

/** The folder of all files of this process until the test ends. */
const ownFolder = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'web-'))
  const { TMPDIR } = process.env
  process.env['TMPDIR'] = folder
  t.teardown(() => (TMPDIR === undefined ? delete process.env['TMPDIR'] : (process.env['TMPDIR'] = TMPDIR)))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Everything that runs out of a folder. */
const running = async (folder: string): Promise<readonly string[]> => {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(processes.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(folder))
}

/** MiB that the processes of a folder have for themselves. */
const memoryIn = async (folder: string): Promise<number> => {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const own = async (id: string): Promise<number> => {
    if (!(await readFile(`/proc/${id}/cmdline`, 'utf8')).includes(folder)) return 0
    const status = await readFile(`/proc/${id}/status`, 'utf8')
    return [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].reduce((sum, [, kB]) => sum + Number(kB) / 1024, 0)
  }
  const all = await Promise.all(processes.map((id) => own(id).catch(() => 0)))
  return all.reduce((sum, own) => sum + own, 0)
}

t.test('a page can not fill the memory', skip, async (t) => {
  const folder = await ownFolder(t)
  const eats = 'const kept = []; setInterval(() => kept.push(new Uint8Array(2 ** 25).fill(1)), 5)'
  const worker = `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(eats)}])))`
  // An answer that waits keeps the page from coming to rest.
  const kept = `<script>fetch("/waits"); for (let at = 0; at < 8; at++) ${worker}; ${eats}</script>`
  const web = createServer(({ url }, response) => {
    if (url !== '/waits') response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>Eats</p>${kept}`)
  })
  const { port } = await serving(t, web)
  const { scrape, dispose } = scraper(t, [port])
  let [most, over] = [0, false]
  const looking = (async () => {
    for (; !over; await wait(50)) most = Math.max(most, await memoryIn(folder))
  })()
  const ended = await failed(scrape(`http://${open}:${port}/`, true))
  over = true
  await looking
  t.match(ended.validator, { url: 'Expected a page that a browser can show' })
  t.ok(most > 400 && most < 1_800, `${Math.round(most)} MiB at most`)
  await dispose()
  t.ok(await until(async () => (await running(folder)).length === 0), 'no process stays')
})

t.test('leaves nothing behind when it is stopped', skip, async (t) => {
  const folder = await ownFolder(t)
  const { port, at, asked } = await site(t, {
    '/busy': ['text/html', '<p>Busy</p><script src=/first.js></script><script>for (;;);</script>'],
    '/first.js': ['text/javascript', ''],
  })
  const { scrape, dispose } = scraper(t, [port])
  const stop = new AbortController()
  const reason = new Error('left')
  const left = failed(scrape(at('/busy'), true, stop.signal))
  for (let tries = 0; tries < 1500 && !asked.includes('GET /first.js'); tries++) await wait(10)
  t.ok((await running(folder)).length > 1, 'a browser runs')
  const clock = quietClock()
  stop.abort(reason)
  t.equal(await left, reason)
  t.ok(clock() < 500, 'at once')
  await dispose()
  for (let tries = 0; tries < 100 && (await running(folder)).length > 0; tries++) await wait(10)
  t.same(await running(folder), [], 'no process')
  t.same(await readdir(folder), [], 'no file')
})

const asRoot = process.getuid?.() === 0 ? {} : { skip: 'not root' }

t.test('root starts a browser only when configured, and the error names the setting', asRoot, async (t) => {
  const { port, at, asked } = await site(t, { '/news': ['text/html', news] })
  const refused = await failed(scraper(t, [port], { allowRoot: false }).scrape(at('/news'), true))
  t.ok(refused instanceof Unconfigured)
  t.same(Object.keys(refused.validator ?? {}), ['tools.webPageScraperTool.allowRoot'])
  t.same(asked, ['GET /news'], 'the page alone was loaded')
})

t.test('the error names the setting to configure', async (t) => {
  const { port, at } = await site(t, { '/news': ['text/html', news] })
  for (const chromium of ['/nowhere/chromium', '/bin/false']) {
    const refused = await failed(scraper(t, [port], { chromium }).scrape(at('/news'), true))
    t.ok(refused instanceof Unconfigured, chromium)
    t.same(Object.keys(refused.validator ?? {}), ['tools.webPageScraperTool.chromium'])
  }
})
