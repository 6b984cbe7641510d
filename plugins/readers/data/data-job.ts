import type { Tags } from 'yaml'
import { GatewayError, Unreadable } from '../../../core/errors.ts'
import { contentCutter, type ContentLimits } from '../shared/content-cutter.ts'
import { readTable } from './data-delimited.ts'
import { type DataFormat, formatOf } from './data-format.ts'
import { isLines, parseJson, parseLines } from './data-json.ts'
import { outlineOf } from './data-outline.ts'
import { readParquet } from './data-parquet.ts'
import { describeRecords, isRecords } from './data-records.ts'
import { readText } from '../shared/data-text.ts'
import { isDelimited } from '../shared/tables-csv.ts'
import { optionalPackage } from '../../shared/optional-package.ts'
import { parseXml } from '../shared/data-xml.ts'
import type { Data } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'

export default async ({ most, ...file }: FileToRead & { readonly most: ContentLimits }): Promise<Data> => {
  const format = formatOf(file)
  if (format === 'parquet') return readParquet(file.bytes, most)
  const { text, encoding } = readText(file)
  return { ...(await (format === null ? tried(text, most) : readFormat(format, text, most))), encoding }
}

const readFormat = async (format: DataFormat, text: string, most: ContentLimits): Promise<Data> => {
  if (format === 'csv' || format === 'tsv') return readTable(text, most)
  if (format === 'json' || format === 'jsonl') return readJson(format, text, most)
  if (format === 'xml') return described(format, parseXml(text), most)
  if (format === 'toml') return described(format, await parseToml(text), most)
  return described(format, await yamlOf(text), most)
}

/** One document stands for itself; several documents are a list. */
const yamlOf = async (text: string): Promise<unknown> => {
  const documents = await parseYaml(text)
  return documents.length === 1 ? documents[0] : documents
}

/** Reads a text of unknown format with the strictest format that accepts it. Throws Unreadable for prose. */
const tried = async (text: string, most: ContentLimits): Promise<Data> => {
  const lines = text.split('\n', 3).map((line) => line.trim())
  if (lines.some((line) => /^(\[.+\]|[\w."-]+\s*=\s*\S.*)$/.test(line))) {
    const value = await parseToml(text).catch(unlessMissing)
    if (value !== null) return described('toml', value, most)
  }
  if (isDelimited(text)) return readTable(text, most)
  const value = await yamlOf(text).catch(unlessMissing)
  if (typeof value !== 'object' || value === null) throw new Unreadable()
  return described('yaml', value, most)
}

/** Null means that the format does not fit; a missing package is still an error. */
const unlessMissing = (error: unknown): null => {
  if (error instanceof GatewayError && !(error instanceof Unreadable)) throw error
  return null
}

/** Many `.json` files hold lines, and many `.jsonl` files hold one value. */
const readJson = (format: DataFormat, text: string, most: ContentLimits): Data => {
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

const described = (format: DataFormat, value: unknown, most: ContentLimits): Data => {
  if (isRecords(value)) return describeRecords(format, value, most)
  const cut = contentCutter(most)
  const fitted = cut.fit(value, most.characters)
  return { format, kind: 'tree', outline: outlineOf(value), truncated: cut.cut(), value: fitted }
}

/** Throws when the text is not TOML. Dates and times are objects that print as written. */
const parseToml = async (text: string): Promise<unknown> => {
  const { parse } = await optionalPackage('smol-toml', () => import('smol-toml'))
  return parse(text, { integersAsBigInt: 'asNeeded' })
}

/** The library compares every alias with all earlier anchors and aliases: this many comparisons are fast. */
const mostLooks = 20_000_000

/** Sets, ordered maps and times are read as they are written: a set has its members as names. */
const tagsAsWritten = (tags: Tags): Tags => [
  ...tags.filter((tag) => typeof tag === 'string' || !/:(set|omap|timestamp)$/.test(tag.tag)),
  'binary',
]

/** The documents of a text. Throws for what is not YAML, for aliases that multiply, and for too many. */
const parseYaml = async (text: string): Promise<readonly unknown[]> => {
  const { isAlias, isNode, parseAllDocuments, visit } = await optionalPackage('yaml', () => import('yaml'))
  const documents = [
    ...parseAllDocuments(text, {
      intAsBigInt: true,
      merge: true,
      customTags: tagsAsWritten,
      resolveKnownTags: false,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    }),
  ]
  for (const document of documents) {
    if (document.errors[0]) throw document.errors[0]
    let [aliases, named] = [0, 0]
    visit(document, (_, node) => {
      if (isAlias(node)) aliases++
      if (isAlias(node) || (isNode(node) && 'anchor' in node && node.anchor !== undefined)) named++
      if (aliases * named > mostLooks) throw new Unreadable()
    })
  }
  // An alias is the same object again, so that many plain aliases cost little.
  return documents.map((document) => document.toJS({ maxAliasCount: 10_000 }) as unknown)
}
