import { Agent, createServer, request as ask } from 'node:http'
import { answering, lasting } from './answering.ts'

// The least that a proxy can be: the body goes in, whatever comes back goes out.
const agent = new Agent({ keepAlive: true })
const target = new URL(process.env['UPSTREAM']!)
answering(
  lasting(
    createServer((request, response) => {
      const onward = ask(
        {
          agent,
          host: target.hostname,
          port: target.port,
          method: 'POST',
          path: request.url,
          headers: { 'content-type': 'application/json', 'content-length': request.headers['content-length'] },
        },
        (answer) => {
          response.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] })
          answer.pipe(response)
        },
      )
      request.pipe(onward)
    }),
  ),
)
