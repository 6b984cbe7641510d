import type { Row } from './row.ts'

const all = [
  ...['generateImage', 'audioGenerateFromText', 'createFileForUser'],
  ...['imageDescribeAndCaption', 'imageDescribeAndCaptionFallback', 'videoDescribeAndCaption', 'getPDFContent'],
  ...['getTextDocumentContent', 'audioDiarization', 'getFileContentOCR', 'getSpreadsheetContent', 'getDataFileContent'],
  ...['transcribeAudioToText', 'transcribeAudioWithDiarization', 'getPowerPointContent'],
  ...['getTime', 'webSearchTool', 'webPageScraperTool', 'searchRag'],
]

export const toolCalls: readonly Row[] = [
  [
    '5.1 the listing of tools needs no key',
    async (t, { gateway }) => {
      t.equal((await fetch(`${gateway.base}/tools`)).status, 200)
    },
  ],
  [
    '4.9 the listing has every tool of the interface by its identifier',
    async (t, { client }) => {
      const { body } = await client.send('/tools')
      const names = body.data.map(({ name }: { name: string }) => name)
      t.same([...names].sort(), [...all].sort())
    },
  ],
  [
    '4.9 cipherText, encryptedParams and nonce are required',
    async (t, { client }) => {
      const body = client.sealed(await client.agree(), 'encryptedParams', { timezone: 'UTC' })
      for (const name of ['cipherText', 'encryptedParams', 'nonce']) {
        const { status, body: refused } = await client.send('/tools/getTime', { body: { ...body, [name]: undefined } })
        t.equal(status, 400)
        t.same(Object.keys(refused.validator), [name])
      }
    },
  ],
  [
    '4.9 a simple tool answers under the seal',
    async (t, { client }) => {
      const agreement = await client.agree()
      const body = client.sealed(agreement, 'encryptedParams', { timezone: 'Europe/Berlin' })
      const answer = await client.send('/tools/getTime', { body })
      t.ok([200, 201, 202].includes(answer.status))
      t.match(JSON.stringify(client.opened(agreement, answer.body.data)), /Europe\/Berlin/)
    },
  ],
  [
    '4.9 a tool that is not there is a 404',
    async (t, { client }) => {
      const body = client.sealed(await client.agree(), 'encryptedParams', {})
      for (const id of ['getWeather', 'gettime', 'constructor', '__proto__'])
        t.equal((await client.send(`/tools/${id}`, { body })).status, 404, id)
    },
  ],
  [
    '5.3 tools want a key, and its scope',
    async (t, { client, scoped }) => {
      const body = client.sealed(await client.agree(), 'encryptedParams', { timezone: 'UTC' })
      t.equal((await client.send('/tools/getTime', { body, headers: { authorization: '' } })).status, 401)
      t.equal((await (await scoped('chats.completion')).send('/tools/getTime', { body })).status, 403)
    },
  ],
  [
    '4.9 createFileForUser makes a file of fileName, fileExtension, fileContent and mimeType',
    async (t, { client }) => {
      const agreement = await client.agree()
      const dek = new Uint8Array(32).fill(3)
      const params = { fileName: 'poem', fileExtension: 'txt', fileContent: 'The heron waits.', mimeType: 'text/plain' }
      const { status, body } = await client.tool('createFileForUser', params, null, {
        ...client.sealed(agreement, 'encryptedParams', params),
        ...client.part(agreement, 'encryptedFileDek', 'fileNonce', dek),
        kid: 'kek-1',
        wrappedDek: client.wrapped(dek),
      })
      t.equal(status, 200)
      const hex = /^[0-9a-f]+$/
      t.match(body.data, { fileId: String, fileName: hex, fileSize: Number, handle: String, mimeType: hex, s3Path: String, success: true, message: String }) // prettier-ignore
      const { body: record } = await client.send(`/files/encrypted/${body.data.fileId}`)
      t.equal(record.data.file_size, body.data.fileSize)
      t.equal(record.data.file_path, body.data.s3Path)
    },
  ],
  [
    '4.9 webPageScraperTool takes url and renderJs',
    async (t, { client, page }) => {
      for (const params of [{ url: page }, { url: page, renderJs: false }]) {
        const { status, body } = await client.tool('webPageScraperTool', params)
        t.equal(status, 200)
        t.match(JSON.stringify(body), /heron waits at the pond/)
      }
      t.match((await client.tool('webPageScraperTool', { url: 'no address' })).body, { code: 'invalid_parameters', field: 'url' }) // prettier-ignore
    },
  ],
  [
    '4.9 webSearchTool takes query, country and searchLang',
    async (t, { client }) => {
      const { body } = await client.tool('webSearchTool', { query: 'heron pond', country: 'DE', searchLang: 'de' })
      t.match(body.results[0].title, /q=heron\+pond.*language=de-DE|language=de-DE.*q=heron\+pond/)
    },
  ],
]
