// In a Next.js application this file is app/ai/[...path]/route.ts, without its last lines.
// SvelteKit's +server.ts, Bun.serve and Deno.serve take the same function.
import { createGateway } from 'sealgate'
import { memory } from 'sealgate/memory'

const gateway = createGateway(memory(), { prefix: '/ai' })
const handle = (request: Request): Promise<Response> => gateway.fetch(request)

export const runtime = 'nodejs'
export { handle as DELETE, handle as GET, handle as HEAD, handle as PATCH, handle as POST }

const answer = await handle(new Request('https://my-app.example/ai/health'))
console.log(answer.status, await answer.json())
await gateway.close()
