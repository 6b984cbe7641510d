import { Agent, type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { answering } from '../subjects/answering.ts'
import { packaged } from './packages.ts'

interface HttpProxy {
  createProxyServer(options: object): { web(request: IncomingMessage, response: ServerResponse): void }
}

const agent = new Agent({ keepAlive: true })
const proxy = packaged<HttpProxy>('http-proxy').createProxyServer({ target: process.env['UPSTREAM'], agent })
answering(createServer((request, response) => proxy.web(request, response)))
