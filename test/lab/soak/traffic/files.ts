import { randomBytes } from 'node:crypto'
import { uploadOf } from '../../../fakes/uploads.ts'
import { type Target, type Traffic, ask, judged, one, refused } from '../traffic.ts'

const sizes = [100, 5_000, 60_000, 300_000, 1_500_000]

interface Stored {
  readonly id: string
  /** What lies there under a seal. */
  readonly sealed: Uint8Array
}

/** As JSON with hex, what the client never sends; nobody opens it. */
const asJson = async (target: Target, leave: AbortSignal): Promise<string | null> => {
  const content = randomBytes(one(sizes.slice(0, 4)))
  const sent = { body: JSON.stringify(uploadOf(content)) }
  const { status, text } = await ask(target, '/files/encrypted/upload', sent, leave)
  if (status !== 200) return `status ${status} instead of 200`
  const { id } = (JSON.parse(text) as { data: Stored }).data
  const found = await ask(target, `/files/encrypted/${id}/content`, { method: 'GET' }, leave)
  const flaw = judged(found, 200, (text) => text.length > 0)
  return flaw ?? judged(await ask(target, `/files/encrypted/${id}`, { method: 'DELETE' }, leave), 200, () => true)
}

const part = async (target: Target, id: string, size: number, leave: AbortSignal): Promise<string | null> => {
  const [start, end] = [Math.floor(Math.random() * (size / 2)), size - 1 - Math.floor(Math.random() * (size / 4))]
  const { status, headers, body } = await target.fetch(`${target.base}/files/encrypted/${id}/content`, {
    headers: { authorization: `Bearer ${target.key}`, range: `bytes=${start}-${end}` },
    signal: leave,
  })
  let length = 0
  for await (const piece of body!) length += (piece as Uint8Array).length
  if (status !== 206 || headers.get('content-range') !== `bytes ${start}-${end}/${size}`) return 'another range'
  return length === end - start + 1 ? null : 'another length of a range'
}

export const traffic: Traffic = {
  name: 'files',
  weight: 5,
  ms: 150,
  stores: true,
  async call(target, leave) {
    const { files } = target.client
    if (Math.random() < 0.2) return asJson(target, leave)
    const bytes = randomBytes(one(sizes))
    const name = `${bytes.toString('hex', 0, 8)}.bin`
    const { id, file_size } = await files.upload({ name, bytes }, { signal: leave })
    switch (one(['whole', 'part', 'listed', 'twice', 'verified', 'unread'])) {
      case 'whole': {
        const found = await files.download(id, { signal: leave })
        if (found.name !== name || !bytes.equals(await found.bytes())) return 'another content'
        break
      }
      case 'part': {
        const flaw = await part(target, id, file_size, leave)
        if (flaw !== null) return flaw
        break
      }
      case 'listed': {
        const all = await ask(target, '/files/encrypted?limit=100', { method: 'GET' }, leave)
        const named = await files.list({ search: name })
        if (!all.text.includes(id) || named.files.length !== 1) return 'not listed'
        break
      }
      case 'twice': {
        const again = await files.upload({ name, bytes }, { signal: leave })
        if (!again.is_duplicate || again.id !== id) return 'kept twice'
        break
      }
      case 'verified':
        if (!(await files.verify(id, { signal: leave }))) return 'not what was stored'
        break
      // Whoever reads on slowly and leaves: the client takes the first piece and goes.
      case 'unread': {
        const { content } = await files.download(id, { signal: leave })
        for await (const _ of content) break
        break
      }
    }
    await files.remove(id)
    return refused(files.download(id, { signal: leave }), { status: 404 }, leave)
  },
}
