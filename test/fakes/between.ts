import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { opensHttp } from './listening.ts'

/** What whoever carries the traffic makes of an answer; `sent` is the body of the request. */
export type Change = (answer: string, sent: string) => string | { readonly text: string; readonly cut: true }

/** Somebody between client and gateway, who passes everything on and changes answers of the sealed chat. */
export const between = async (t: Test, base: string, change: Change): Promise<string> => {
  const server = createServer(async (request, response) => {
    try {
      const body = await text(request)
      const answer = await fetch(base + request.url, {
        method: request.method!,
        headers: { authorization: request.headers.authorization!, 'content-type': 'application/json' },
        ...(request.method === 'POST' && { body }),
      })
      const words = await answer.text()
      const isChat = request.url!.startsWith('/rvenc/chat')
      const changed = isChat ? change(words, body) : words
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type')! })
      if (typeof changed === 'string') response.end(changed)
      else response.write(changed.text, () => response.destroy())
    } catch {
      response.destroy()
    }
  })
  return opensHttp(t, server)
}
