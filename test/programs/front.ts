import type { Asked, Take } from '../fakes/recorded.ts'

/** Hands a request to the gateway, whole. A WebSocket is refused, as the gateway refuses it. */
export const through = async (base: string, { method, path, headers, body }: Asked): Promise<Take> => {
  if (headers.upgrade !== undefined) return { status: 426, body: '' }
  const { host: _, connection: __, 'content-length': ___, ...kept } = headers
  const answer = await fetch(base + path, {
    method,
    headers: kept as Record<string, string>,
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  })
  const type = answer.headers.get('content-type')
  return {
    status: answer.status,
    headers: type === null ? {} : { 'content-type': type },
    body: Buffer.from(await answer.arrayBuffer()),
  }
}
