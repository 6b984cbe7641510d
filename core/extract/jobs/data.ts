import { cutter, type Most } from '../tables/data-cut.ts'
import { readTable } from '../tables/data-delimited.ts'
import { formatOf } from '../tables/data-format.ts'
import { isLines, parseJson, parseLines } from '../tables/data-json.ts'
import { outlineOf } from '../tables/data-outline.ts'
import { readParquet } from '../tables/data-parquet.ts'
import { describeRecords, isRecords } from '../tables/data-records.ts'
import { textOf } from '../tables/data-text.ts'
import { parseToml } from '../tables/data-toml.ts'
import { parseXml } from '../tables/data-xml.ts'
import { parseYaml } from '../tables/data-yaml.ts'
import type { Data, DataFile, DataFormat } from '../tables/data.ts'

export default async ({ most, ...file }: DataFile & { readonly most: Most }): Promise<Data> => {
  const format = formatOf(file)
  if (format === 'parquet') return readParquet(file.bytes, most)
  const text = textOf(file.bytes)
  if (format === 'csv' || format === 'tsv') return readTable(text, most)
  if (format === 'json' || format === 'jsonl') return readJson(format, text, most)
  if (format === 'xml') return described(format, await parseXml(text), most)
  if (format === 'toml') return described(format, await parseToml(text), most)
  const documents = await parseYaml(text)
  return described(format, documents.length === 1 ? documents[0] : documents, most)
}

/** Many a `.json` is lines, and many a `.jsonl` is one value. */
const readJson = (format: DataFormat, text: string, most: Most): Data => {
  if (!isLines(text)) return described('json', parseJson(text), most)
  if (format === 'json') {
    try {
      return described('json', parseJson(text), most)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  const { records, broken } = parseLines(text)
  return describeRecords('jsonl', records, most, broken)
}

const described = (format: DataFormat, value: unknown, most: Most): Data => {
  if (isRecords(value)) return describeRecords(format, value, most)
  const cut = cutter(most)
  const fitted = cut.fit(value, most.characters)
  return { format, kind: 'tree', outline: outlineOf(value), truncated: cut.cut(), value: fitted }
}
