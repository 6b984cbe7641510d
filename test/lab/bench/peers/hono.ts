import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { answering } from '../subjects/answering.ts'
import { packaged } from './packages.ts'

interface Context {
  readonly req: { readonly path: string; readonly raw: Request; header(): Record<string, string> }
}
interface Hono {
  all(path: string, handler: (context: Context) => Promise<Response>): void
  readonly fetch: (request: Request) => Promise<Response>
}

const { Hono } = packaged<{ Hono: new () => Hono }>('hono')
const { proxy } = packaged<{ proxy(url: string, options: object): Promise<Response> }>('hono/proxy')
const { getRequestListener } = packaged<{
  getRequestListener(fetch: Hono['fetch']): (request: IncomingMessage, response: ServerResponse) => void
}>('@hono/node-server')

const app = new Hono()
app.all('*', ({ req }) => proxy(`${process.env['UPSTREAM']}${req.path}`, { ...req, headers: req.header() }))
answering(createServer(getRequestListener(app.fetch)))
