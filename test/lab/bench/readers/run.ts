import { parseArgs } from 'node:util'
import { type Format, formats } from './documents.ts'
import { byEncoding } from './encodings.ts'
import { byFormat } from './formats.ts'
import { byPicture } from './ocr.ts'
import { byRichFile } from './rich.ts'

/** `npm run bench:readers [-- chapter or format …] [--most N] [--each] [--language L]` */
const chapters: Readonly<Record<string, (language?: string) => AsyncIterable<string>>> = {
  encodings: byEncoding,
  rich: byRichFile,
  ocr: byPicture,
}

const { values, positionals } = parseArgs({
  options: { most: { type: 'string' }, each: { type: 'boolean' }, language: { type: 'string' } },
  allowPositionals: true,
})
const asked = new Set(positionals)
const strange = positionals.filter(
  (positional) => !Object.hasOwn(chapters, positional) && !formats.includes(positional as Format),
)
if (strange.length > 0) throw new Error(`Choose from ${[...formats, ...Object.keys(chapters)].join(', ')}`)

const chosen = formats.filter((format) => asked.size === 0 || asked.has(format))
/** A lost row is a failed bench. */
const say = (line: string): void => {
  if (line.endsWith('BEHIND')) process.exitCode = 1
  console.log(line)
}

for await (const line of byFormat(chosen, Number(values.most ?? 60), values.each)) say(line)
for (const [name, chapter] of Object.entries(chapters)) {
  if (asked.size > 0 && !asked.has(name)) continue
  for await (const line of chapter(values.language)) say(`${name}: ${line}`)
}
