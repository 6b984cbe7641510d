import { apart, type Bounds } from '../apart.ts'
import type { File } from './document.ts'

export interface Slide {
  /** Its place in the presentation, from 1. */
  readonly number: number
  readonly title: string | null
  /** All but the title. */
  readonly text: string
  /** What the speaker is to say. */
  readonly notes: string | null
  readonly hidden: boolean
}

export interface Slides {
  readonly slides: readonly Slide[]
  readonly truncated: boolean
}

/** The slides of a pptx or odp in the order in which they are shown. At most 2,000,000 characters. Throws Unreadable. */
export const readSlides = (file: File, signal: AbortSignal, bounds: Bounds = {}): Promise<Slides> =>
  apart<Slides>('slides', { name: file.name, mime: file.mime, bytes: file.bytes }, signal, { time: 30_000, ...bounds })
