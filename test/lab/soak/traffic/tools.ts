import { readFileSync } from 'node:fs'
import { type Target, type Traffic, one, refused } from '../traffic.ts'

const fixture = (path: string) => readFileSync(`test/vectors/files/${path}`)

const readers = [
  { tool: 'getTextDocumentContent', name: 'harvest.docx', bytes: fixture('docx/harvest.docx'), says: 'Boskoop' },
  { tool: 'getTextDocumentContent', name: 'harvest.md', bytes: fixture('md/harvest.md'), says: 'Boskoop' },
  {
    tool: 'getSpreadsheetContent',
    name: 'rows.csv',
    bytes: fixture('csv/semicolons-quoted-newline.csv'),
    says: '"rows"',
  },
]

const made = async ({ client }: Target, signal: AbortSignal): Promise<string | null> => {
  const fileContent = 'The ferry leaves at noon. '.repeat(1 + Math.floor(Math.random() * 4000))
  const params = { fileName: 'note', fileExtension: 'txt', fileContent, mimeType: 'text/plain' }
  const { fileId } = await client.tools.call('createFileForUser', params, { signal })
  const bytes = await (await client.files.download(fileId, { signal })).bytes()
  await client.files.remove(fileId)
  return Buffer.from(bytes).toString() === fileContent ? null : 'another content'
}

const read = async ({ client }: Target, signal: AbortSignal): Promise<string | null> => {
  const { tool, name, bytes, says } = one(readers)
  const { id } = await client.files.upload({ name, bytes }, { signal })
  const text = JSON.stringify(await client.tools.call(tool, { fileId: id }, { signal }))
  await client.files.remove(id)
  return text.includes(says) ? null : `another answer of ${tool}`
}

export const traffic: Traffic = {
  name: 'tools',
  weight: 4,
  ms: 200,
  stores: true,
  async call(target, signal) {
    const { tools } = target.client
    switch (one(['time', 'time', 'make', 'make', 'read', 'nowhere', 'unknown'])) {
      case 'make':
        return made(target, signal)
      case 'read':
        return read(target, signal)
      case 'nowhere': {
        const wanted = { fault: 'failed', code: 'invalid_parameters', field: 'timezone' }
        return refused(tools.call('getTime', { timezone: 'Nowhere/Land' }, { signal }), wanted, signal)
      }
      case 'unknown':
        return refused(tools.call('nothing', {}, { signal }), { fault: 'refused', status: 404 }, signal)
      default: {
        const { timezone } = await tools.call('getTime', { timezone: 'Europe/Lisbon' }, { signal })
        return timezone === 'Europe/Lisbon' ? null : 'another zone'
      }
    }
  },
}
