import { use } from '../../core/plugin.ts'
import data from '../../plugins/readers/data.ts'
import document from '../../plugins/readers/document.ts'
import image from '../../plugins/readers/image.ts'
import pdf from '../../plugins/readers/pdf.ts'
import slides from '../../plugins/readers/slides.ts'
import spreadsheet from '../../plugins/readers/spreadsheet.ts'

/** Readers run inside the enclave. */
export const readers = [use(data), use(document), use(image), use(pdf), use(slides), use(spreadsheet)]
