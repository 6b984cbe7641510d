import { many } from '../container.ts'
import type { Contents, Seen } from './file-content.ts'

/** An opened file, as its sender describes it. Readers trust the bytes more than name and type. */
export interface FileToRead {
  readonly name: string
  /** Empty when the sender named none. */
  readonly mime: string
  readonly bytes: Uint8Array
}

/** A kind stands for one form of content, which several formats may share. */
export type Kind = keyof Contents

/** A part of a file's text, and its place. */
export interface Section {
  readonly text: string
  /** Null when no heading stands over the text. */
  readonly heading: string | null
  /** Page or slide, from 1. */
  readonly page: number | null
}

/** What a reader found in a file. */
export interface Read<K extends Kind = Kind> {
  /** The text for search. */
  readonly sections: readonly Section[]
  /** The whole content, for the tools of this kind. */
  readonly content: Contents[K]
}

/** Rows and columns from 1, the last ones with them. */
export interface CellRange {
  readonly top: number
  readonly bottom: number
  readonly left: number
  readonly right: number
}

/** The part of a workbook that is read; absent members mean all. */
export interface SheetPart {
  /** The name of a sheet, or its number from 1. Where there is none the content has no sheet. */
  readonly sheet?: string
  readonly range?: CellRange
}

/** An absent limit is the reader's own. */
export interface ReadLimits extends SheetPart {
  readonly characters?: number
  /** Cells of sheets, and values of data. */
  readonly values?: number
  /** The first and the last page or slide, from 1. */
  readonly from?: number
  readonly to?: number
}

/** Reads a family of formats: bytes in; text, tables and their places out. Files come from strangers. */
export interface Reader<K extends Kind = Kind> {
  readonly name: string
  readonly kind: K
  /** A reader of last resort is asked when no other reader fits. */
  readonly lastResort?: boolean
  /** Recognises the format by name, type and first bytes. Parses nothing. */
  fits(file: FileToRead): boolean
  /**
   * Throws Unreadable for a broken file, and Unconfigured when a package or program is missing. The bytes stay
   * unchanged.
   */
  read(file: FileToRead, signal: AbortSignal, limits?: ReadLimits): Promise<Read<K>>
  /**
   * Reads pages as pictures, by OCR: the first ones, or those from a number on, in these languages (by the names of Tesseract), in the reader's own or by
   * their script. Throws Unconfigured when one is not installed. Absent when the formats have no pages.
   */
  see?(
    file: FileToRead,
    pages: number,
    signal: AbortSignal,
    languages?: readonly string[],
    from?: number,
  ): Promise<Seen>
}

/** The first reader that fits reads the file; a reader of last resort comes after all others. */
export const Reader = many<Reader>('Reader', { name: 'text', kind: 'text', fits: 'function', read: 'function' })
