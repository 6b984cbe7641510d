import * as v from 'valibot'
import { enveloped } from '../../../core/http/reply.ts'
import { chapterOf } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }

const { lent, scripts: types } = written.samples

/** The console's part of the reference, read by `/docs` and by `/openapi.json` alone. */
export const chapter = chapterOf(written, {
  'GET /console/{release}/{file}': { types },
  'GET /console/{release}/pages/{file}': { types },
  'GET /console/{release}/sealed/{file}': { types },
  'POST /console/logins/{issuer}': { enveloped: { data: lent } },
  'POST /console/session': { enveloped: { status: 201, data: lent } },
  'POST /console/session/key': { enveloped: { status: 201, data: lent } },
  'POST /console/session/renewal': { enveloped: { data: lent } },
  'DELETE /console/session': { shape: enveloped(v.object({})) },
})
