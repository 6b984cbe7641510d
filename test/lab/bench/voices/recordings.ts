import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Packaged, unpacked } from '../unpacked.ts'
import { samplesOf, type Speaker } from './mix.ts'

/** Prompts for telephones, each spoken by one person. */
const prompts: readonly (Packaged & { readonly speaker: string })[] = [
  {
    speaker: 'Allison (English)',
    name: 'asterisk-core-sounds-en-wav-1.6.1-1',
    from: { debian: 'asterisk-core-sounds-en-wav=1.6.1-1' },
    archive: 'asterisk-core-sounds-en-wav_1.6.1-1_all.deb',
    sha256: '2be3ea287d83299d143815fa804f11179a75b7affd4a758b98b55f5afc18a35d',
  },
  {
    speaker: 'Allison (Spanish)',
    name: 'asterisk-core-sounds-es-wav-1.6.1-1',
    from: { debian: 'asterisk-core-sounds-es-wav=1.6.1-1' },
    archive: 'asterisk-core-sounds-es-wav_1.6.1-1_all.deb',
    sha256: '9283a09a6d56fccdcc2bcfe86c48f0f844289cfbd46a3184d8785a6f7f569903',
  },
  {
    speaker: 'June',
    name: 'asterisk-core-sounds-fr-wav-1.6.1-1',
    from: { debian: 'asterisk-core-sounds-fr-wav=1.6.1-1' },
    archive: 'asterisk-core-sounds-fr-wav_1.6.1-1_all.deb',
    sha256: '8d4e1bc32ed5ba7fbda40841ca1825ed20cc6232724a473c90f8bb0e53e6073e',
  },
  {
    speaker: 'Carlo',
    name: 'asterisk-core-sounds-it-wav-1.6.1-1',
    from: { debian: 'asterisk-core-sounds-it-wav=1.6.1-1' },
    archive: 'asterisk-core-sounds-it-wav_1.6.1-1_all.deb',
    sha256: '5a26638089e134b8ac39363fe249c5c93c50cd8bfdc9b2499ae61ec4a35e2fcb',
  },
  {
    speaker: 'the Russian',
    name: 'asterisk-core-sounds-ru-wav-1.6.1-1',
    from: { debian: 'asterisk-core-sounds-ru-wav=1.6.1-1' },
    archive: 'asterisk-core-sounds-ru-wav_1.6.1-1_all.deb',
    sha256: 'ccbfaebfa450b7a9ddf644ae0f3d1e9017d5df7c0aebe816e946345589d38201',
  },
  {
    speaker: 'the Colombian',
    name: 'asterisk-prompt-es-co-0.20070403-2.1',
    from: { debian: 'asterisk-prompt-es-co=0.20070403-2.1' },
    archive: 'asterisk-prompt-es-co_0.20070403-2.1_all.deb',
    sha256: '6702696e045514699e87dc8fb70f370717e5df91f821f7bec8dd0df1be008e83',
  },
  {
    speaker: 'Armelle',
    name: 'asterisk-prompt-fr-armelle-20070613-2.2',
    from: { debian: 'asterisk-prompt-fr-armelle=20070613-2.2' },
    archive: 'asterisk-prompt-fr-armelle_20070613-2.2_all.deb',
    sha256: '162570b1a9b3512a98f06b89f60c7c17cf1b9b52297315adca9a4e5be728bea3',
  },
  {
    speaker: 'Paola',
    name: 'asterisk-prompt-it-menardi-wav-3.1',
    from: { debian: 'asterisk-prompt-it-menardi-wav=1:1.4.22+mm20110907-3.1' },
    archive: '3.1_all.deb',
    sha256: '3094530d98f8758ac275572d59624c41f60969fef883f34f4886d144f3dfeb21',
  },
]

/** In bytes a second of each format. */
const pace: Readonly<Record<string, number>> = { wav: 16_000, gsm: 1_650 }

/** In seconds: shorter recordings have hardly a word. */
const shortest = 2
const most = 16

export const speakersOnDebian = async (): Promise<readonly Speaker[]> => {
  const speakers: Speaker[] = []
  for (const { speaker: name, ...packaged } of prompts) {
    const recordings: Float32Array[] = []
    for (const path of longEnough(unpacked(packaged)).slice(0, most)) recordings.push(await samplesOf(asWav(path)))
    speakers.push({ name, recordings })
  }
  return speakers
}

/** The packages hold two takes of some prompts; those of one length stand for each other. */
const longEnough = (folder: string): readonly string[] => {
  const sizes = new Set<number>()
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => join(folder, name))
    .filter((path) => {
      const { size } = statSync(path)
      const isLong = size >= shortest * (pace[path.slice(path.lastIndexOf('.') + 1)] ?? Infinity)
      return isLong && !sizes.has(size) && sizes.add(size)
    })
}

/** A recording of GSM has no head that tells its format. */
const asWav = (path: string): Uint8Array =>
  path.endsWith('.gsm')
    ? execFileSync('ffmpeg', ['-v', 'error', '-f', 'gsm', '-ar', '8000', '-i', path, '-f', 'wav', 'pipe:1'], {
        maxBuffer: 64 * 1024 * 1024,
      })
    : readFileSync(path)
