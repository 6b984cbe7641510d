/** Ratios against a baseline of the same run; absolute times are only told. `npm run bench [name …]` */
const chapters: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  house: async () => (await import('./house.ts')).house(),
  chat: async () => (await import('./chat.ts')).chat(),
  sealed: async () => (await import('./sealed.ts')).sealed(),
  files: async () => (await import('./files.ts')).files(),
  workers: async () => (await import('./workers.ts')).workers(),
  kills: async () => (await import('./kills.ts')).kills(),
  outages: async () => (await import('./outages.ts')).outages(),
}

const wanted = process.argv.slice(2)
for (const [name, run] of Object.entries(chapters)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  for (const line of await run()) console.log(`${name}: ${line}`)
}
