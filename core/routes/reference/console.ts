import type { Chapter } from '../../http/reference.ts'

const file = { 'text/javascript': 'A script of the console.', 'text/css': 'The style of the console.' } as const

export const consoleChapter: Chapter = {
  name: 'Console',
  about:
    'The console is a page for browsers. It works with the key of its reader and calls only the routes of this page.',
  words: {
    release: 'The hash of all files of the console.',
    file: 'The name of a file of the console.',
  },
  operations: {
    'GET /console': { about: 'A setting turns it off.', types: { 'text/html': 'The page.' } },
    'GET /console/{release}/{file}': { about: 'The page names its files.', types: file },
    'GET /console/{release}/pages/{file}': { about: 'The page names its files.', types: file },
    'GET /console/{release}/sealed/{file}': { about: 'The page names its files.', types: file },
  },
}
