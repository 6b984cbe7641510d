import * as v from 'valibot'
import { chapterOf } from '../shared/written-chapter.ts'
import written from './front-chapter.json' with { type: 'json' }

/** The chapter of routes that are served whatever chapters the settings choose. */
export const front = chapterOf(written, { 'GET /openapi.json': { shape: v.looseObject({}) } })
