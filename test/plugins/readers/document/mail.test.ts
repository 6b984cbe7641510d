import '../../../fakes/unwatched.ts'
import t from 'tap'
import type { Contents } from '../../../../core/ports/file-content.ts'
import document from '../../../../plugins/readers/document.ts'
import { unquoted } from '../../../../plugins/readers/document/quoted-printable.ts'
import { unpackRtf } from '../../../../plugins/readers/document/msg.ts'
import { compoundOf } from '../../../fakes/compound.ts'
import { file, made, soon, stored } from '../tried.ts'

const read = async (name: string, bytes: string | Uint8Array, mime = '') =>
  (await made(document).read(file(name, bytes, mime), soon())).content as Contents['document']
const textOf = async (name: string, bytes: string | Uint8Array, mime = '') =>
  (await read(name, bytes, mime)).sections.map(({ text }) => text).join('\n')

const mail = [
  'From: =?utf-8?Q?J=C3=BCrgen_M=C3=BCller?= <juergen@example.org>',
  'To: Ada <ada@example.org>,',
  ' Bo <bo@example.org>',
  'Subject: =?iso-8859-1?B?R3L832U=?= =?utf-8?B?IGF1cyBLw7ZsbiE=?=',
  'Date: Mon, 2 Mar 2026 10:00:00 +0100',
  'Content-Type: multipart/mixed; boundary="outer"',
  '',
  'For older programs.',
  '--outer',
  'Content-Type: multipart/alternative; boundary=inner',
  '',
  '--inner',
  'Content-Type: text/plain; charset=windows-1251',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  '=CF=F0=E8=E2=E5=F2, this line is =',
  'one line.',
  '--inner',
  'Content-Type: text/html',
  '',
  '<p>As a page.</p>',
  '--inner--',
  '--outer',
  'Content-Type: application/pdf',
  "Content-Disposition: attachment; filename*0*=utf-8''Pr%C3%BC; filename*1*=fung.pdf",
  'Content-Transfer-Encoding: base64',
  '',
  'AAAA',
  '--outer--',
  '',
].join('\r\n')

t.test('a mail is read with its heads, its plain text and the names of its attachments', async (t) => {
  t.match(await read('a.eml', mail), { format: 'eml', title: 'Grüße aus Köln!' })
  t.equal(
    await textOf('letter', mail, 'message/rfc822'),
    [
      'From: Jürgen Müller <juergen@example.org>',
      'To: Ada <ada@example.org>, Bo <bo@example.org>',
      'Date: Mon, 2 Mar 2026 10:00:00 +0100',
      'Subject: Grüße aus Köln!',
      'Привет, this line is one line.',
      'Attachment: Prüfung.pdf',
    ].join('\n'),
  )
})

t.test('a mail of a page alone, and a mail within a mail, are read', async (t) => {
  const page = 'Subject: Page\nContent-Type: text/html; charset=utf-8\n\n<h1>Tides</h1><p>High at <b>noon</b>.</p>'
  t.match((await read('a.eml', page)).sections, [{}, { heading: 'Tides', text: 'High at noon.' }])
  const outer = `Subject: Outer\nContent-Type: multipart/digest; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n${page}\n--b--\n`
  t.match(await textOf('a.eml', outer), /Subject: Outer\nSubject: Page/)
})

t.test(
  'a mail that Exchange attached without a name is read, and other parts without a name tell their type',
  async (t) => {
    const attached = 'Content-Disposition: attachment; creation-date="Mon, 02 Mar 2026 09:00:00 GMT"'
    const part = (type: string, content: string) => `--b\nContent-Type: ${type}\n${attached}\n\n${content}\n`
    const forwarded = (parts: string) => `Subject: Fwd\nContent-Type: multipart/mixed; boundary=b\n\n${parts}--b--\n`
    const inner = 'Subject: Tides\n\nHigh at noon.'
    const parts =
      part('message/rfc822', inner) + part('application/pdf', 'x') + part('message/rfc822; name=a.eml', inner)
    t.equal(
      await textOf('a.eml', forwarded(parts)),
      'Subject: Fwd\nSubject: Tides\nHigh at noon.\nAttachment: application/pdf\nAttachment: a.eml',
    )
    const odd = forwarded(`--b\n\nSee below.\n${part('message/rfc822', 'To: ada@example.org\n\nHigh at noon.')}`)
    t.equal(await textOf('a.eml', odd), 'Subject: Fwd\nSee below.\nTo: ada@example.org\nHigh at noon.')
    const other = `${part('text/plain', 'x')}--b\n\nSee below.\n`.replace('attachment', 'inline')
    const chosen = forwarded(other + part('application/pdf', 'x')).replace('multipart/mixed', 'multipart/alternative')
    t.equal(await textOf('a.eml', chosen), 'Subject: Fwd\nx\nAttachment: application/pdf')
  },
)

t.test('a comment behind a transfer encoding or a type of a mail is no part of it', async (t) => {
  const coded = (heads: string, text: string) => textOf('a.eml', `Subject: x\n${heads}\n\n${text}`)
  t.equal(
    await coded('Content-Transfer-Encoding: Base64 (of words)', 'SGlnaCBhdCBub29uLg=='),
    'Subject: x\nHigh at noon.',
  )
  t.equal(await coded('Content-Transfer-Encoding: quoted-printable(as ever)', 'H=69gh'), 'Subject: x\nHigh')
  t.equal(await coded('Content-Type: text/html (a page)', '<p>High</p>'), 'Subject: x\nHigh')
})

t.test('a mail that an editor saved in a wider encoding, or with a mark, is read', async (t) => {
  const body = 'Content-Transfer-Encoding: 8bit\r\n\r\nSüße Äpfel, привет.\r\n'
  const heads = 'From: Ada <ada@example.org>\r\nSubject: Größe\r\nContent-Type: text/plain; charset=iso-8859-1\r\n'
  const plain = 'From: Ada <ada@example.org>\nSubject: Größe\nSüße Äpfel, привет.'
  const little = (text: string) => Buffer.from(text, 'utf16le')
  const utf8 = Buffer.from(`\ufeff${heads}${body}`.replace('iso-8859-1', 'utf-8'))
  const saved = {
    'UTF-16LE with its mark': little(`\ufeff${heads}${body}`),
    'UTF-16BE with its mark': little(`\ufeff${heads}${body}`).swap16(),
    'UTF-16LE without a mark': little(heads + body),
    'UTF-8 with its mark': utf8,
  }
  for (const [name, bytes] of Object.entries(saved)) t.equal(await textOf('a.eml', bytes), plain, name)
  t.match(await textOf('a.eml', little(`\ufeff${mail}`)), /Привет, this line is one line\.\nAttachment: Prüfung\.pdf$/)
  const inner = Buffer.from('Subject: Inner\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nS\xfc\xdf', 'latin1')
  const nested = `Subject: Outer\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${inner.toString('base64')}`
  t.match(await textOf('a.eml', little(`\ufeff${nested}`)), /Subject: Outer\nSubject: Inner\nSüß$/)
})

t.test('a mail without heads, or one of mails without end, is refused', async (t) => {
  await t.rejects(read('a.eml', 'only words'), { name: 'Unreadable' })
  const nested = (depth: number): string =>
    depth === 0
      ? 'Subject: x\n\ny'
      : `Subject: x\nContent-Type: multipart/mixed; boundary=b${depth}\n\n--b${depth}\n${nested(depth - 1)}\n--b${depth}--`
  await t.rejects(read('a.eml', nested(30)), { name: 'Unreadable' }, 'too deep')
  const many = `Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n${'--b\n\nz\n'.repeat(2_000)}--b--`
  await t.rejects(read('a.eml', many), { name: 'Unreadable' }, 'too many parts')
})

const wide = (text: string) => Buffer.from(text, 'utf16le')
/** 1 March 2026 at noon, as Windows counts it, and a code page of texts, unless another property holds it. */
const fixed = (codePage: number, property = 0x3ffd) => {
  const bytes = Buffer.alloc(32 + 2 * 16)
  bytes.writeUInt16LE(0x0039, 34)
  bytes.writeBigUInt64LE(BigInt(Date.UTC(2026, 2, 1, 12) + 11_644_473_600_000) * 10_000n, 40)
  bytes.writeUInt16LE(property, 50)
  bytes.writeUInt32LE(codePage, 56)
  return bytes
}
const outlook = (body: Readonly<Record<string, Uint8Array>>) =>
  compoundOf({
    '__properties_version1.0': fixed(1251),
    '__substg1.0_0037001F': wide('Grüße'),
    '__substg1.0_0C1A001E': Buffer.from('Ольга'.split('').map((part) => part.charCodeAt(0) - 0x350)),
    '__recip_version1.0_#00000000/__properties_version1.0': Buffer.alloc(8),
    '__recip_version1.0_#00000000/__substg1.0_3001001F': wide('Ada'),
    '__recip_version1.0_#00000000/__substg1.0_39FE001F': wide('ada@example.org'),
    '__attach_version1.0_#00000000/__properties_version1.0': Buffer.alloc(8),
    '__attach_version1.0_#00000000/__substg1.0_3707001F': wide('plan.pdf'),
    ...body,
  })

t.test('a mail of Outlook is read in its code page, from text, a page or packed RTF', async (t) => {
  const heads = 'From: Ольга\nTo: Ada <ada@example.org>\nDate: 2026-03-01T12:00:00.000Z\nSubject: Grüße\n'
  const parts = { '__substg1.0_1000001F': wide('Bis bald.\r\nO.') }
  t.match(await read('a.msg', outlook(parts)), { format: 'msg', title: 'Grüße' })
  t.equal(await textOf('a', outlook(parts)), `${heads}Bis bald.\nO.\nAttachment: plan.pdf`)
  const page = { '__substg1.0_10130102': Buffer.from('<p>Bis <b>bald</b>.</p>') }
  t.match(await textOf('a', outlook(page)), `${heads}Bis bald.\n`)
  const rtf = { '__substg1.0_10090102': packed('{\\rtf1 Bis dann.\\par}') }
  t.match(await textOf('a', outlook(rtf)), `${heads}Bis dann.\n`)
})

t.test('a mail of Outlook is read in any code page, and without one in that which its bytes show', async (t) => {
  const body = async (parts: Readonly<Record<string, Uint8Array>>, properties = Buffer.alloc(32)) =>
    (await textOf('a.msg', compoundOf({ '__properties_version1.0': properties, ...parts }))).replace(/^Date: .*\n/, '')
  const narrow = (hex: string) => ({ '__substg1.0_1000001E': Buffer.from(hex, 'hex') })
  for (const [codePage, hex, text] of [
    [20866, 'f0d2c9d7c5d4', 'Привет'],
    [21866, 'f0d2c9d7a6d4', 'Привіт'],
    [28592, '5a61bff3b3e6', 'Zażółć'],
    [28605, '35a4', '5€'],
    [50221, '1b2442242b24263b331b2842', 'かう山'],
    [51932, 'a4aba4a6bbb3', 'かう山'],
    [51949, 'bec8b3e7', '안녕'],
    [54936, 'c4e3bac3', '你好'],
  ] as const)
    t.equal(await body(narrow(hex), fixed(codePage)), text, `${codePage}`)
  const page = (hex: string) => ({ '__substg1.0_10130102': Buffer.from(`3c703e${hex}3c2f703e`, 'hex') })
  t.equal(await body(narrow('e4bda0e5a5bd')), '你好', 'UTF-8 without a code page')
  t.equal(await body(page('bec8b3e7c7cfbcbcbfe4'), fixed(949, 0x3fde)), '안녕하세요', 'a short page')
  t.equal(await body(page('e4bda0e5a5bd'), fixed(949, 0x3fde)), '你好', 'a page in UTF-8, whatever the mail says')
})

t.test('Chinese whose bytes are all of ASCII is read, and ASCII in the place of UTF-16', async (t) => {
  const subject = async (bytes: Buffer, kind: Buffer) =>
    (await read('a.msg', outlook({ '__substg1.0_001A001F': kind, '__substg1.0_0037001F': bytes }))).title
  t.equal(await subject(wide('慢慢数据'), wide('IPM.Note')), '慢慢数据')
  t.equal(await subject(Buffer.from('The plan'), Buffer.from('IPM.Note')), 'The plan')
})

/** A recipient of Outlook; the number of its kind is absent in old files. */
const recipient = (at: number, name: string, address: string, kind?: number) => {
  const folder = `__recip_version1.0_#0000000${at}`
  const properties = Buffer.alloc(kind === undefined ? 8 : 24)
  if (kind !== undefined) {
    properties.writeUInt16LE(0x0c15, 10)
    properties.writeUInt32LE(kind, 16)
  }
  return {
    [`${folder}/__properties_version1.0`]: properties,
    [`${folder}/__substg1.0_3001001F`]: wide(name),
    [`${folder}/__substg1.0_3003001F`]: wide(address),
  }
}

t.test('a mail of Outlook tells who gets a copy, and who gets it unseen', async (t) => {
  const sent = outlook({
    ...recipient(3, 'Di', 'di@example.org', 3),
    ...recipient(2, 'Cy', 'cy@example.org', 0x10000002),
    ...recipient(4, 'Ed', 'ed@example.org'),
    ...recipient(1, 'Bo', '/o=Orchard/ou=Pears/cn=Recipients/cn=bo', 1),
    '__substg1.0_1000001F': wide('Bis bald.'),
  })
  const told = await textOf('a.msg', sent)
  t.match(
    told,
    '\nTo: Ada <ada@example.org>, Bo, Ed <ed@example.org>\nCc: Cy <cy@example.org>\nBcc: Di <di@example.org>\n',
  )
  const shown = { '__substg1.0_0E03001F': wide('Cy; Flo'), '__substg1.0_1000001F': wide('Bis bald.') }
  t.match(
    await textOf('a.msg', outlook(shown)),
    '\nTo: Ada <ada@example.org>\nCc: Cy; Flo\n',
    'names without recipients',
  )
  t.match(await textOf('a.eml', mail.replace('Subject:', 'Bcc: di@example.org\r\nSubject:')), '\nBcc: di@example.org\n')
})

t.test('a mail of Outlook that another program wrote is read', async (t) => {
  const { bytes } = await stored('msg/harvest.msg')
  t.match(await read('a', bytes), { format: 'msg', title: 'Grüße von der Ernte' })
  const told = await textOf('a', bytes)
  t.match(told, /^From: Jürgen Müller <juergen@example\.org>\nTo: Ada Lind <ada@example\.org>/)
  t.match(told, /\nDate: 2026-09-21T10:00:00\.000Z\nSubject: Grüße von der Ernte\nLiebe Ada,\ndie Äpfel sind geerntet/)
  t.match(told, /Привет aus Köln!\n[^]*\nAttachment: orchard\.csv$/)
})

/** Packed RTF without references: nine bytes for each eight characters. */
const packed = (text: string): Buffer => {
  const pieces = text.match(/[^]{1,8}/g)!.map((piece) => `\0${piece}`)
  const head = Buffer.alloc(16)
  const content = Buffer.from(pieces.join(''), 'latin1')
  head.writeUInt32LE(content.length + 12, 0)
  head.writeUInt32LE(text.length, 4)
  head.writeUInt32LE(0x75465a4c, 8)
  return Buffer.concat([head, content])
}

t.test('packed RTF refers to the words that the format defines', async (t) => {
  // The example of the format's own description.
  const example = '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0'
  t.equal(
    unpackRtf(Buffer.from(example, 'hex')).toString('latin1'),
    '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n',
  )
  t.throws(() => unpackRtf(Buffer.alloc(20)), { name: 'Unreadable' })
  const huge = Buffer.from(example, 'hex')
  huge.writeUInt32LE(0xffffffff, 4)
  t.throws(() => unpackRtf(huge), { name: 'Unreadable' })
})

t.test('quoted-printable: blanks before a break go, soft breaks join, and what is no code stays', async (t) => {
  const plain = (coded: string) => unquoted(Buffer.from(coded, 'latin1')).toString('latin1')
  for (const [coded, expected] of [
    ['a \t\r\nb', 'a\r\nb'],
    ['a \t\nb ', 'a\nb '],
    ['one =\r\ntwo', 'one two'],
    ['one= \t\ntwo', 'onetwo'],
    ['=e9=E9', '\xe9\xe9'],
    ['1 = 2, =G0, =4', '1 = 2, =G0, =4'],
    ['a\rb =', 'a\rb ='],
    ['\xff', '\xff'],
  ] as const)
    t.equal(plain(coded), expected, JSON.stringify(coded))
  const blanks = Buffer.alloc(4 * 1024 * 1024, ' ')
  t.equal(unquoted(blanks).length, blanks.length, 'a long run of blanks is read once')
})

t.test('a name of an attachment is decoded once, from any form and any order of its pieces', async (t) => {
  for (const [parameters, name] of [
    ["filename*=UTF-8''Za%C5%BC%C3%B3%C5%82%C4%87%20%E2%82%AC.pdf", 'Zażółć €.pdf'],
    ['filename*0*=utf-8\'\'Pr%C3; filename*1*=%BCfung; filename*2=" 1.pdf"', 'Prüfung 1.pdf'],
    ['filename*1="two.pdf"; filename*0="one-"', 'one-two.pdf'],
    ['filename="Pruefung.pdf"; filename*=iso-8859-1\'\'Pr%FCfung.pdf', 'Prüfung.pdf'],
    ['filename*0="it\'s o\'clock"; filename*1*=%20%C3%BC.pdf', "it's o'clock ü.pdf"],
    ['filename="=?utf-8?Q?Pr=C3?= =?utf-8?Q?=BCfung.pdf?="', 'Prüfung.pdf'],
    ["filename*=utf-8''%3D%3Futf-8%3FQ%3Fa%3F%3D.pdf", '=?utf-8?Q?a?=.pdf'],
    ['filename*=rock%27n%27roll.pdf', "rock'n'roll.pdf"],
    ['filename="a.pdf"; filename="b.pdf"', 'a.pdf'],
  ] as const) {
    const one = `Subject: x\nContent-Type: application/pdf\nContent-Disposition: attachment; ${parameters}\n\nx`
    t.equal(await textOf('a.eml', one), `Subject: x\nAttachment: ${name}`, parameters)
  }
})

t.test('a character that is parted between two coded words of a subject is whole', async (t) => {
  const subject = async (words: string) => (await read('a.eml', `From: a@b\nSubject: ${words}\n\nx`)).title
  t.equal(await subject('=?UTF-8?B?R3LD?=\n =?utf-8?B?vMOfZQ==?= aus'), 'Grüße aus')
  t.equal(await subject('=?utf-8?Q?Gr=C3?= =?utf-8*de?B?vMOfZQ==?='), 'Grüße')
  t.equal(await subject('=?iso-8859-1?Q?Gr=FC?= =?utf-8?Q?=C3=9Fe?='), 'Grüße', 'words of two encodings')
})

t.test('a mail of Apple names the files between the texts of its page, and no picture of the page', async (t) => {
  const part = (boundary: string, ...lines: readonly string[]) => [`--${boundary}`, ...lines].join('\n')
  const pdf = ['Content-Type: application/pdf; name="plan.pdf"', 'Content-Disposition: inline; filename=plan.pdf']
  const picture = ['Content-Type: image/png; name="logo.png"', 'Content-Disposition: inline; filename=logo.png']
  const apple = [
    'Subject: Plan',
    'Content-Type: multipart/alternative; boundary=a',
    '',
    part('a', 'Content-Type: text/plain', '', 'See the plan.'),
    part('a', 'Content-Type: multipart/mixed; boundary=m', ''),
    part('m', 'Content-Type: multipart/related; boundary=r', ''),
    part('r', 'Content-Type: text/html; name=page.html', '', '<p>See the plan.</p>'),
    part('r', ...picture, '', 'x'),
    '--r--',
    part('m', ...pdf, '', 'x'),
    '--m--',
    '--a--',
    '',
  ].join('\n')
  t.equal(await textOf('a.eml', apple), 'Subject: Plan\nSee the plan.\nAttachment: plan.pdf')
  const many = apple.replace('--m--', `${'--m\n\nz\n'.repeat(2_000)}--m--`)
  await t.rejects(read('a.eml', many), { name: 'Unreadable' }, 'parts without end')
})

t.test('a plain text of a mail that shows nothing leaves the word to the page', async (t) => {
  const mailWith = (plain: string, charset: string) =>
    [
      'Subject: Offer',
      'Content-Type: multipart/alternative; boundary=b\n',
      `--b\nContent-Type: text/plain; charset=${charset}\nContent-Transfer-Encoding: quoted-printable\n\n${plain}`,
      '--b\nContent-Type: text/html\n\n<p>As a page.</p>\n--b--',
    ].join('\n')
  for (const [plain, charset] of [
    ['=C2=A0', 'utf-8'],
    ['=E2=80=8B =EF=BB=BF', 'utf-8'],
    ['=A0', 'iso-8859-1'],
  ] as const)
    t.match(await textOf('a.eml', mailWith(plain, charset)), /As a page\.$/, plain)
  t.match(await textOf('a.eml', mailWith('=C2=A0Hi', 'utf-8')), /Hi$/)
})
