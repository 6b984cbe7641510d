import { chapterOf } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }

/** Tools in the clear for agents. */
export const chapter = chapterOf(written)
