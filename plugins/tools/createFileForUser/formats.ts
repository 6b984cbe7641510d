/** Formats that are made of Markdown or of a table. */
export const formats = ['docx', 'xlsx', 'pptx', 'pdf'] as const

/** Both the ending of a file's name and the name of its writer. */
export type Format = (typeof formats)[number]

const office = 'application/vnd.openxmlformats-officedocument'

/** The registered types, which the file is stored with. */
export const mimes: Readonly<Record<Format, string>> = {
  docx: `${office}.wordprocessingml.document`,
  xlsx: `${office}.spreadsheetml.sheet`,
  pptx: `${office}.presentationml.presentation`,
  pdf: 'application/pdf',
}

/** The format that extension and type name; null where they name none, or two. */
export const formatOf = (extension: string, mime: string): Format | null => {
  const ending = extension.toLowerCase().replace(/^[\s.]+|[\s.]+$/g, '')
  const byName = formats.find((format) => format === ending)
  const byType = formats.find((format) => mimes[format] === mime)
  if (byName === undefined) return ending === '' ? (byType ?? null) : null
  return byType === undefined || byType === byName ? byName : null
}
