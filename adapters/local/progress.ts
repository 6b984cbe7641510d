/** Shows a progress line on a terminal, and nothing elsewhere. */
export const progress = (what: string, out: NodeJS.WriteStream = process.stderr) => {
  if (!out.isTTY) return { told: () => undefined, end: () => undefined }
  let last = -1
  return {
    told(done: number, of: number): void {
      const percent = of === 0 ? 100 : Math.floor((100 * done) / of)
      if (percent === last) return
      last = percent
      const filled = Math.floor(percent / 4)
      out.write(`\r${what.slice(0, 30).padEnd(30)} ${'█'.repeat(filled)}${'░'.repeat(25 - filled)} ${percent} %`)
    },
    end: () => void out.write('\n'),
  }
}
