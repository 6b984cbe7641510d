import { register } from 'node:module'

/** Loaded into a process before its program: notes the files whose functions run, in their order. */
let visits: string[] | null = null

Object.assign(globalThis, {
  visited(file: string) {
    if (visits !== null && visits.at(-1) !== file) visits.push(file)
  },
})
register('./hooks.js', import.meta.url)

process.on('message', (order) => {
  if (order === 'begin') visits = []
  process.send!(visits)
  if (order === 'end') visits = null
})
process.channel?.unref()
