import { createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { answering } from './answering.ts'

// The least that an upload can be: the body goes into a file as it comes, and is flushed. Nothing is read of it.
const path = join(process.env['FOLDER']!, 'received')
const answer = JSON.stringify({ status: 200, data: { id: 'received' } })
answering(
  createServer((request, response) => {
    pipeline(request, createWriteStream(path, { flush: true })).then(
      () => response.end(answer),
      () => response.destroy(),
    )
  }),
)
