import type { Chapter } from '../../../core/ports/chapter.ts'
import { exampleEnvelope } from '../shared/example-envelope.ts'

const file = { 'text/javascript': 'A script of the console.', 'text/css': 'The style of the console.' } as const

/** A sample in the form of a real credential, which no gateway accepts. */
const lent = {
  credential: 'sk_console_4QzJ1r9V2nYc8mXk7TgWb5HdLs3PfEuRa6NtMxKvCqZy',
  expires_at: 1893484800000,
}

const secret = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

const offer = {
  name: 'company',
  authorize:
    'http://127.0.0.1:9999/authorize?response_type=code&client_id=sealgate-console&redirect_uri=http%3A%2F%2F127.0.0.1%3A8787%2Fconsole&scope=openid',
  redirect: 'http://127.0.0.1:8787/console',
}

/** The console's part of the reference, read by `/docs` and by `/openapi.json` alone. */
export const chapter: Chapter = {
  name: 'Console',
  about:
    'The console is a page for browsers. It works with the key of its reader and calls only the routes of this page.',
  words: {
    release: 'The hash of all files of the console.',
    file: 'The name of a file of the console.',
    issuer: 'The name of an issuer in the configuration.',
    name: 'The name of the issuer in the configuration.',
    logins: 'The logins that the console offers.',
    authorize: 'Where a login begins, without the secrets of the browser.',
    redirect: 'Where the issuer sends the reader back.',
    code: 'The code of the issuer.',
    verifier: 'What the code was bound to (RFC 7636).',
    nonce: 'What the ID token has to repeat.',
    iss: 'Who answered the browser (RFC 9207).',
    link: 'What stands behind `#link=`.',
    credential: 'What opens the gateway in the place of a key.',
    expires_at: 'When it ends, as Unix time in ms.',
    everywhere: '`true` ends every session of the key.',
  },
  operations: {
    'GET /console': { about: 'A setting turns it off.', types: { 'text/html': 'The page.' } },
    'GET /console/{release}/{file}': { about: 'The page names its files.', types: file },
    'GET /console/logins': {
      about: 'Each comes from an issuer of the configuration; all of it is public.',
      answer: { ...exampleEnvelope, data: { logins: [offer] } },
    },
    'POST /console/logins/{issuer}': {
      about: 'The answer is an access token of the issuer, which counts as a credential until it ends.',
      body: { code: 'SplxlOBeZQQYbYS6WxSbIA', verifier: secret, nonce: secret },
      answer: { ...exampleEnvelope, data: lent },
    },
    'POST /console/session': {
      about: 'A link is taken once, within five minutes of the first start.',
      body: { link: secret },
      answer: { ...exampleEnvelope, status: 201, data: lent },
    },
    'POST /console/session/key': {
      about: 'The key stays with its reader: the console works with the credential, and forgets the key.',
      answer: { ...exampleEnvelope, status: 201, data: lent },
    },
    'POST /console/session/renewal': {
      about: 'The console asks when its page is loaded again, and while its reader uses it.',
      answer: { ...exampleEnvelope, data: lent },
    },
    'DELETE /console/session': { about: 'The credential is refused at once by every process.' },
    'GET /console/{release}/pages/{file}': { about: 'The page names its files.', types: file },
    'GET /console/{release}/sealed/{file}': { about: 'The page names its files.', types: file },
  },
}
