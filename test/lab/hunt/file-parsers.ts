import type { FileToRead } from '../../../core/ports/reader.ts'
import { readData } from '../../../plugins/readers/data.ts'
import { readDocument } from '../../../plugins/readers/document.ts'
import type { PdfJob } from '../../../plugins/readers/pdf/pdf-job.ts'
import { readPdf } from '../../../plugins/readers/pdf/pdf.ts'
import { defaultLimits as most } from '../../../plugins/readers/shared/default-limits.ts'
import { readSlides } from '../../../plugins/readers/slides.ts'
import type { SheetsJob } from '../../../plugins/readers/spreadsheet/sheets-job.ts'
import { readSheets } from '../../../plugins/readers/spreadsheet.ts'
import type { Job } from '../../../plugins/shared/job-outcome.ts'
import { openImage } from '../../../plugins/shared/pictures/image.ts'
import { drawImage } from '../../../plugins/shared/pictures/raster-image.ts'
import { decodeAudio } from '../../../plugins/tools/shared/audio.ts'
import { openVideo } from '../../../plugins/tools/videoDescribeAndCaption/video.ts'

/** What reads the files of a kind. */
export interface Parser {
  /** The sealed tool that reads them. */
  readonly tool: string
  /** Reads a file as that tool does, without an enclave around. */
  read(file: FileToRead, signal: AbortSignal): Promise<unknown>
  /** What the process of its parser is given; null where a program of the system decodes the file. */
  readonly job: ((file: FileToRead) => Job) | null
  /** In ms: the shortest time after which a reading is ended. */
  readonly boundMs: number
}

const jobMs = 10_000

export const documents: Parser = {
  tool: 'getTextDocumentContent',
  read: readDocument,
  job: (input) => ({ job: 'readers/document/document-job', input }),
  boundMs: jobMs,
}

export const slides: Parser = {
  tool: 'getPowerPointContent',
  read: readSlides,
  job: (input) => ({ job: 'readers/slides/slides-job', input }),
  boundMs: jobMs,
}

export const sheets: Parser = {
  tool: 'getSpreadsheetContent',
  read: (file, signal) => readSheets(file, signal),
  job: (file) => ({ job: 'readers/spreadsheet/sheets-job', input: { ...file, most, part: {} } satisfies SheetsJob }),
  boundMs: jobMs,
}

export const data: Parser = {
  tool: 'getDataFileContent',
  read: (file, signal) => readData(file, signal),
  job: (file) => ({ job: 'readers/data/data-job', input: { ...file, most } }),
  boundMs: jobMs,
}

export const pages: Parser = {
  tool: 'getPDFContent',
  read: (file, signal) => readPdf(file, signal, { scans: 0 }),
  job: ({ bytes }) => ({
    job: 'readers/pdf/pdf-job',
    input: { bytes, from: 1, pages: 500, characters: most.characters } satisfies PdfJob,
  }),
  boundMs: jobMs,
}

/** A decoder may work for twenty seconds. */
const decoderMs = 20_000

export const pictures: Parser = {
  tool: 'getFileContentOCR',
  read: async ({ bytes }, signal) => drawImage(openImage(bytes), { colours: 'grey', longest: 800 }, signal),
  job: null,
  boundMs: decoderMs,
}

export const videos: Parser = {
  tool: 'audioDiarization',
  read: ({ bytes }, signal) => openVideo(bytes, signal, (video) => video.frames(1)),
  job: null,
  boundMs: decoderMs,
}

export const sounds: Parser = {
  tool: 'audioDiarization',
  async read({ bytes }, signal) {
    for await (const block of decodeAudio(bytes).blocks(signal)) if (block.length === 0) break
  },
  job: null,
  // Its facts are asked for first.
  boundMs: 8_000,
}
