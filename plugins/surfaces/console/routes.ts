import { NotFound } from '../../../core/errors.ts'
import { text } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { consoleHeaders, fileHeaders } from './headers.ts'

const building = lazy(() => import('./built.ts'))

const built = async () => (await building()).built()

const page = route({
  method: 'GET',
  path: '/console',
  summary: 'The console: a page for browsers that works with a key of its reader.',
  access: 'unasked',
  needs: {},
  handle: async () => text((await built()).page, 'text/html; charset=utf-8', 200, consoleHeaders),
})

/** Rejects with NotFound for files of another release, so that no page mixes scripts of two. */
const fileOf = async (release: string, name: string) => {
  const { hash, files } = await built()
  const file = release === hash ? files.get(name) : undefined
  if (file === undefined) throw new NotFound('Not found')
  return text(file.bytes, file.type, 200, fileHeaders)
}

const file = route({
  method: 'GET',
  path: '/console/{release}/{file}',
  summary: 'A script or style of the console, under the hash of all of them.',
  access: 'unasked',
  needs: {},
  handle: ({ params }) => fileOf(params.release, params.file),
})

const pageFile = route({
  method: 'GET',
  path: '/console/{release}/pages/{file}',
  summary: 'A script of one page of the console.',
  access: 'unasked',
  needs: {},
  handle: ({ params }) => fileOf(params.release, `pages/${params.file}`),
})

const sealedFile = route({
  method: 'GET',
  path: '/console/{release}/sealed/{file}',
  summary: 'A script of the sealed playground or of the client that it runs.',
  access: 'unasked',
  needs: {},
  handle: ({ params }) => fileOf(params.release, `sealed/${params.file}`),
})

/** Three routes for files, since a parameter of a path takes one segment. */
export const consoleRoutes = [page, file, pageFile, sealedFile] as const
