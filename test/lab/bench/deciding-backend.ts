import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { lasting } from './subjects/answering.ts'

/** A backend that is as sure of yes as of no, and counts its calls. */
export const decidingBackend = async () => {
  const top = ['yes', 'no'].map((token) => ({ token, logprob: Math.log(0.5) }))
  const logprobs = { content: [{ ...top[0], top_logprobs: top }] }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'length', logprobs }]
  const body = JSON.stringify({ id: 'c', object: 'chat.completion', created: 0, model: 'm', choices })
  let calls = 0
  const server = lasting(
    createServer((request, response) => {
      calls++
      request.resume().once('end', () => response.setHeader('content-type', 'application/json').end(body))
    }),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    stop: () => server.close(),
  }
}
