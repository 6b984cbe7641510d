import type { Packaged } from '../../unpacked.ts'

/** A package whose documents are searched. */
export interface Source extends Packaged {
  readonly collection: Collection
  /** Files of the package that are documents, by their path. */
  readonly files: RegExp
}

export type Collection = 'handbook' | 'software' | 'law'

const licences = [
  ...['AFL-3.0', 'APSL-2.0', 'Apache-2.0', 'Artistic-2.0', 'BUSL-1.1', 'BitTorrent-1.1', 'CC-BY-4.0', 'CC0-1.0'],
  ...['CDDL-1.0', 'CECILL-2.1', 'CERN-OHL-S-2.0', 'CPAL-1.0', 'EPL-2.0', 'EUPL-1.2', 'ErlPL-1.1', 'GFDL-1.3-only'],
  ...['GPL-3.0-only', 'IPL-1.0', 'LGPL-2.1-only', 'LPPL-1.3c', 'LiLiQ-P-1.1', 'MPL-2.0', 'MS-PL', 'NASA-1.3'],
  ...['Nokia', 'OCLC-2.0', 'ODbL-1.0', 'OFL-1.1', 'OGL-UK-3.0', 'OSL-3.0', 'PDDL-1.0', 'Python-2.0', 'QPL-1.0'],
  ...['RPL-1.5', 'RSCPL', 'SISSL', 'SSPL-1.0', 'Sleepycat', 'Vim', 'Watcom-1.0'],
]

export const sources: readonly Source[] = [
  {
    collection: 'handbook',
    name: 'debian-policy',
    from: { debian: 'debian-policy=4.6.2.0' },
    archive: 'debian-policy_4.6.2.0_all.deb',
    sha256: 'ef9d01b625c3b87c3a845c2cd1b66f1a16e9240b2b9e5bee53472a00e8457a39',
    files: /policy\.html\/(?:ch|ap)-[\w-]+\.html$|debconf_specification\.html$/,
  },
  {
    collection: 'handbook',
    name: 'debian-faq',
    from: { debian: 'debian-faq=11.1' },
    archive: 'debian-faq_11.1_all.deb',
    sha256: '427426e0cfa6888622fc1d72631071cb4b5a1f86ccde722e7820bcef284de5d0',
    files: /FAQ\/(?!index)[\w-]+\.en\.html$/,
  },
  {
    collection: 'handbook',
    name: 'debian-history',
    from: { debian: 'debian-history=2.28' },
    archive: 'debian-history_2.28_all.deb',
    sha256: 'ae364cdfd075bf6a08ca8f5105b44db7093e3b201c95d3b70a863b8849c6a082',
    files: /docs\/(?!index)\w+\.en\.html$/,
  },
  {
    collection: 'software',
    name: 'fastify',
    from: { npm: 'fastify@5.6.1' },
    archive: 'fastify-5.6.1.tgz',
    sha256: '51d4b0dbe007229304d036d47c33603d26de58abbabc1ffde9b2f6b0c882d3a8',
    files: /docs\/(?:Reference|Guides)\/(?!Index|Ecosystem)[\w-]+\.md$/,
  },
  {
    collection: 'software',
    name: 'pino',
    from: { npm: 'pino@10.1.0' },
    archive: 'pino-10.1.0.tgz',
    sha256: '3bc5bcc732c75fdcae25952850a7a7814c1b2b28b6a671f72333ae371ce86fc4',
    files: /docs\/(?!ecosystem)[\w-]+\.md$/,
  },
  {
    collection: 'software',
    name: 'commander',
    from: { npm: 'commander@14.0.2' },
    archive: 'commander-14.0.2.tgz',
    sha256: '09106ecd2c62a34c8bc466d5b46096e383e474af120a6295dcd0473e45b6c2f1',
    files: /Readme\.md$/,
  },
  {
    collection: 'software',
    name: 'npm',
    from: { npm: 'npm@11.6.2' },
    archive: 'npm-11.6.2.tgz',
    sha256: '585f95094ee5cb2788ee11d90f2a518a7c9ef6e083fa141d0b63ca3383675a20',
    files: /^package\/docs\/content\/[\w-]+\/[\w-]+\.md$/,
  },
  {
    collection: 'law',
    name: 'spdx',
    from: { npm: 'spdx-license-list@6.10.0' },
    archive: 'spdx-license-list-6.10.0.tgz',
    sha256: 'd80c9febdcb88dbd6dc4ceffc1143dce273ca741e9d7b596b023afd77e37da98',
    files: new RegExp(`licenses/(?:${licences.map((licence) => licence.replaceAll('.', '\\.')).join('|')})\\.json$`),
  },
]
