import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Lasting } from '../contracts/stage.ts'

type Json = Record<string, any>

/** A vendor with batches at the socket. Every batch is over at once. */
export interface BatchVendor {
  readonly url: string
  /** Method and path of each request, in order. */
  readonly asked: string[]
  /** The requests of the last upload or batch. */
  readonly lines: Json[]
  /** Bytes of the last upload. */
  received: number
  /** Answers in place of the usual one. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | null
}

/** The usage of one answer. */
export const used = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 }

const answered = ({ custom_id, body }: Json): Json => ({
  id: `batch_req_${custom_id}`,
  custom_id,
  response: {
    status_code: 200,
    request_id: 'r',
    body: {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: body.model },
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: `To ${custom_id}` } }],
      usage: used,
    },
  },
  error: null,
})

const answeredResponse = ({ custom_id, body }: Json): Json => ({
  ...answered({ custom_id, body }),
  response: {
    status_code: 200,
    request_id: 'r',
    body: {
      ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: body.model },
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `To ${custom_id}` }] }],
      usage: { input_tokens: used.prompt_tokens, output_tokens: used.completion_tokens, total_tokens: 1_100 },
    },
  },
})

const refused = ({ custom_id }: Json): Json => ({
  ...{
    id: 'x',
    custom_id,
    response: { status_code: 400, request_id: 'r', body: { error: { message: 'No' } } },
    error: null,
  },
})

const message = ({ custom_id, params }: Json): Json => ({
  custom_id,
  result: custom_id.startsWith('bad')
    ? { type: 'errored', error: { type: 'error', error: { type: 'invalid_request_error', message: 'No' } } }
    : {
        type: 'succeeded',
        message: {
          ...{ id: 'm', type: 'message', role: 'assistant', model: params.model, stop_reason: 'end_turn' },
          content: [{ type: 'text', text: `To ${custom_id}` }],
          usage: { input_tokens: used.prompt_tokens, output_tokens: used.completion_tokens },
        },
      },
})

const asLines = (all: readonly Json[]): string => all.map((vendor) => `${JSON.stringify(vendor)}\n`).join('')

const bodyOf = async (request: IncomingMessage, vendor: { received: number }): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of request) {
    parts.push(part as Buffer)
    vendor.received += (part as Buffer).length
  }
  return Buffer.concat(parts).toString()
}

export const batchVendor = async (t: Lasting): Promise<BatchVendor> => {
  const files = new Map<string, string>()
  const batches = new Map<string, Json>()
  let made = 0
  const vendor = { asked: [] as string[], lines: [] as Json[], received: 0, instead: null as BatchVendor['instead'] }
  const tell = (response: ServerResponse, body: unknown, status = 200) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const fileOf = (id: string): Json => ({
    ...{
      id,
      object: 'file',
      bytes: files.get(id)!.length,
      created_at: 1,
      filename: 'batch.jsonl',
      purpose: 'batch',
      status: 'processed',
    },
  })
  const upload = (form: string): Json => {
    const content = /content-type: application\/jsonl\r\n\r\n([^]*?)\r\n--sealgate-/.exec(form)![1]!
    vendor.lines.splice(
      0,
      Infinity,
      ...content
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    const id = `file-${++made}`
    files.set(id, content)
    return fileOf(id)
  }
  const begin = ({ input_file_id, endpoint, metadata = null }: Json): Json => {
    const lines: Json[] = files
      .get(input_file_id)!
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const [good, bad] = [
      lines.filter(({ custom_id }) => !custom_id.startsWith('bad')),
      lines.filter(({ custom_id }) => custom_id.startsWith('bad')),
    ]
    const id = `batch_${++made}`
    const [output_file_id, error_file_id] = [`file-out-${made}`, `file-err-${made}`]
    files.set(output_file_id, asLines(good.map(endpoint === '/v1/responses' ? answeredResponse : answered)))
    if (bad.length > 0) files.set(error_file_id, asLines(bad.map(refused)))
    const batch = {
      ...{
        id,
        object: 'batch',
        endpoint,
        input_file_id,
        completion_window: '24h',
        status: 'completed',
        created_at: 1,
        metadata,
      },
      ...{ output_file_id, error_file_id: bad.length > 0 ? error_file_id : null, model: lines[0]!['body'].model },
    }
    batches.set(id, batch)
    return batch
  }
  const beginMessages = ({ requests }: Json): Json => {
    vendor.lines.splice(0, Infinity, ...requests)
    const id = `msgbatch_${++made}`
    files.set(id, asLines(requests.map(message)))
    const batch = {
      ...{ id, type: 'message_batch', processing_status: 'ended', created_at: '2026-01-01T00:00:00Z' },
      request_counts: { processing: 0, succeeded: requests.length, errored: 0, canceled: 0, expired: 0 },
      results_url: `https://vendor.example/v1/messages/batches/${id}/results`,
    }
    batches.set(id, batch)
    return batch
  }
  const server = createServer(async (request, response) => {
    const path = request.url!
    vendor.asked.push(`${request.method} ${path}`)
    if (vendor.instead?.(request, response) === true) return
    const body = request.method === 'POST' ? await bodyOf(request, vendor).catch(() => null) : ''
    // The gateway leaves in the midst of what it refuses.
    if (body === null) return
    const [, id = '', part = ''] = /^\/v1\/(?:messages\/batches|batches|files)\/([\w-]+)(?:\/(\w+))?$/.exec(path) ?? []
    if (request.method === 'POST' && path === '/v1/files') return tell(response, upload(body))
    if (request.method === 'POST' && path === '/v1/batches') return tell(response, begin(JSON.parse(body)))
    if (request.method === 'POST' && path === '/v1/messages/batches')
      return tell(response, beginMessages(JSON.parse(body)))
    if (part === 'content' || part === 'results') {
      if (!files.has(id)) return tell(response, { error: { message: 'No' } }, 404)
      return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(files.get(id))
    }
    if (!files.has(id) && !batches.has(id)) return tell(response, { error: { message: 'No such thing' } }, 404)
    if (request.method === 'DELETE') {
      files.delete(id)
      batches.delete(id)
      return tell(
        response,
        id.startsWith('msg') ? { id, type: 'message_batch_deleted' } : { id, object: 'file', deleted: true },
      )
    }
    if (part === 'cancel') {
      const told = { ...batches.get(id), status: 'cancelled', processing_status: 'canceling' }
      batches.set(id, told)
      return tell(response, told)
    }
    return tell(response, batches.get(id) ?? fileOf(id))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  return Object.assign(vendor, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}
