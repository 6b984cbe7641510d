import type Koa from 'koa'
import t from 'tap'
import { TooLarge } from '../../../core/errors.ts'
import { readForm } from '../../../core/http/form.ts'
import type { Intake } from '../../../core/http/body-intake.ts'

const head = (rest: string): string => `--b\r\ncontent-disposition: form-data; name=${rest}\r\n\r\n`
const formOf = (content: string): Buffer =>
  Buffer.from(
    `${head('"model"')}m\r\n${head('"file"; filename="a.mp3"\r\ncontent-type: audio/mpeg')}${content}\r\n--b--\r\n`,
  )

/** Reads a form that comes in pieces, and tells what was booked at once. */
const read = async (form: Buffer, most = 10_000_000, pieceBytes = 32 * 1024) => {
  const booked: number[] = []
  let isHeld = false
  const intake: Intake = {
    whole: () => Promise.reject(new Error('The form was read as a whole')),
    async *pieces(held) {
      isHeld = held === true
      for (let at = 0; at < form.length; at += pieceBytes) yield form.subarray(at, at + pieceBytes)
    },
  }
  const pace = {
    spend(ns: number) {
      booked.push(ns)
      return null
    },
  }
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'transfer-encoding': 'chunked' }
  const ctx = { req: { headers }, request: {}, method: 'POST', is: () => 'multipart' } as unknown as Koa.Context
  const { fields, files } = await readForm(ctx, most, () => new TooLarge('Too large'), intake, pace)
  return { fields, file: files.get('file'), booked, isHeld }
}

t.test('the parsing of a form is booked by its line breaks, a millisecond at once', async (t) => {
  const content = '\r'.repeat(20_000)
  const { fields, file, booked, isHeld } = await read(formOf(content))
  t.same(fields.get('model'), ['m'])
  t.ok(Buffer.from(file!.bytes).equals(Buffer.from(content)))
  t.ok(isHeld, 'files stay in memory')
  t.ok(Math.max(...booked) <= 1_000_000, `${Math.max(...booked)} ns at once`)
  const sum = booked.reduce((all, ns) => all + ns, 0)
  t.ok(sum > 20_000_000, `${sum} ns in all`)
})

t.test('a form without line breaks is parsed piece by piece', async (t) => {
  const content = 'a'.repeat(1_000_000)
  const { file, booked } = await read(formOf(content))
  t.ok(Buffer.from(file!.bytes).equals(Buffer.from(content)))
  t.equal(booked.length, Math.ceil(formOf(content).length / 32_768))
})

t.test('a form comes out the same however the network cuts it', async (t) => {
  const content = '\r\n--\r\n-\r\r\n--a--\n'.repeat(300)
  for (const pieceBytes of [1, 2, 7, 512, 100_000]) {
    const { file, fields } = await read(formOf(content), 10_000_000, pieceBytes)
    t.equal(Buffer.from(file!.bytes).toString(), content, `in pieces of ${pieceBytes}`)
    t.same(fields.get('model'), ['m'])
  }
})

t.test('a form beyond its bound is too large, and a form without an end is malformed', async (t) => {
  await t.rejects(read(formOf('a'.repeat(1_000)), 500), TooLarge)
  await t.rejects(read(formOf('a').subarray(0, -8)), { message: 'Malformed form' })
})
