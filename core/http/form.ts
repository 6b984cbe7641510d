/** A multipart form: fields in the order they came, files in memory. */
export interface Form {
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly files: ReadonlyMap<string, FormFile>
}

export interface FormFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}
