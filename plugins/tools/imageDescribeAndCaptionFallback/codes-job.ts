import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { optionalPackage } from '../../shared/optional-package.ts'
import type { Pixels } from '../../shared/pictures/raster-image.ts'
import type { Box } from './image-boxes.ts'

export interface Code {
  /** As its makers write it: `QR Code`, `EAN-13`. */
  readonly format: string
  readonly text: string
  /** In pixels of the input. */
  readonly box: Box
}

/** The largest number of codes in a picture. */
const most = 20

/** Reads the codes in a grey picture. The engine comes from a package and never from the network. */
export default async ({ width, height, bytes }: Pixels): Promise<readonly Code[]> => {
  const { prepareZXingModule, readBarcodes } = await optionalPackage('zxing-wasm', () => import('zxing-wasm/reader'))
  const binary = await readFile(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'))
  prepareZXingModule({ overrides: { wasmBinary: Uint8Array.from(binary).buffer } })
  const picture = { width, height, data: inColour(bytes), colorSpace: 'srgb' } as const
  const found = await readBarcodes(picture, { tryHarder: true, maxNumberOfSymbols: most })
  return found.map(({ format, text, position }) => ({
    format: written(format),
    text,
    box: around(Object.values(position)),
  }))
}

/** The engine takes four numbers for a pixel; the fourth makes it opaque. */
const inColour = (greys: Uint8Array) => {
  const data = new Uint8ClampedArray(greys.length * 4).fill(255)
  for (let at = 0; at < greys.length; at++) data.fill(greys[at] ?? 0, at * 4, at * 4 + 3)
  return data
}

/** `QRCode` as `QR Code`, and `EAN13` as `EAN-13`. */
const written = (format: string): string =>
  format.replace(/^(EAN|UPC)/, '$1-').replace(/(?<=[a-z])(?=[A-Z\d])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ')

/** Corners of a code that stands at an angle come in no order of left and right. */
const around = (corners: readonly { readonly x: number; readonly y: number }[]): Box => {
  const [across, down] = [corners.map(({ x }) => x), corners.map(({ y }) => y)]
  const [x, y] = [Math.min(...across), Math.min(...down)]
  return { x, y, width: Math.max(...across) - x, height: Math.max(...down) - y }
}
