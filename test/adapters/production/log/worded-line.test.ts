import t from 'tap'
import { wordedLine } from '../../../../adapters/production/log/worded-line.ts'
import { writeLog } from '../../../../adapters/production/log/log.ts'

const written = (tell: (log: ReturnType<typeof writeLog>) => void): string => {
  let text = ''
  tell(writeLog('info', { write: (line: string) => void (text += line) }, true))
  return text
}

t.test('a line of the log in words', (t) => {
  const line = (facts: object) =>
    wordedLine(JSON.stringify({ level: 'info', time: 3_723_000, pid: 7, ...facts }), false)
  const request = { event: 'request', request: 'r1', route: 'POST /v1/responses', status: 200, ms: 12.4, key: null }
  t.equal(line(request), '01:02:03 POST /v1/responses 200 in 12 ms, request r1\n')
  t.equal(line({ level: 'warn', event: 'worker.ended', code: 1 }), '01:02:03 warn worker ended: code 1\n')
  t.equal(line({ event: 'odd', fact: 'a\u001b[2Jb\nc' }), '01:02:03 odd: fact a?[2Jb?c\n', 'nothing moves the cursor')
  t.end()
})

t.test('an error tells its classes and codes', (t) => {
  const cause = Object.assign(new Error('Canary7319'), { code: 'ECONNREFUSED' })
  const text = written((log) =>
    log.error('models.unlisted', { provider: 'main' }, new TypeError('Canary7319', { cause })),
  )
  t.match(text, /error models unlisted: provider main \(TypeError < Error ECONNREFUSED\)/)
  t.notMatch(text, /Canary7319/)
  t.end()
})
