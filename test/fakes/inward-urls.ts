import { readFileSync } from 'node:fs'

const groups = JSON.parse(readFileSync('test/fakes/inward-urls.json', 'utf8')) as Readonly<
  Record<string, readonly string[]>
>

/** URLs that must not be followed. PORT stands for a port that is open to the outside door, where somebody listens. */
export const inwardUrls = [...Object.values(groups).flat(), `http://open.example.org:PORT/${'a'.repeat(10_000)}`]
