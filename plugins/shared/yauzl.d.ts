declare module 'yauzl' {
  import type { Readable } from 'node:stream'

  export interface Entry {
    readonly fileName: string
    readonly fileNameLength: number
    readonly relativeOffsetOfLocalHeader: number
    readonly compressedSize: number
    readonly uncompressedSize: number
  }

  export interface ZipFile {
    readonly entryCount: number
    eachEntry(): AsyncIterable<Entry>
    openReadStreamPromise(entry: Entry): Promise<Readable>
  }

  export const fromBufferPromise: (bytes: Buffer) => Promise<ZipFile>
}
