import type { Packaged } from '../unpacked.ts'

/** Source packages of Debian whose test files are documents that other programs wrote. */
export const sources: readonly Packaged[] = [
  {
    name: 'libapache-poi-java-4.0.1',
    from: { source: 'libapache-poi-java' },
    archive: 'libapache-poi-java_4.0.1.orig.tar.xz',
    sha256: '54db524e2bae73658e4fdb3a6e2d69cb4137638ace71fcde93659be2695287ea',
  },
  {
    name: 'pandoc-2.17.1.1',
    from: { source: 'pandoc' },
    archive: 'pandoc_2.17.1.1.orig.tar.gz',
    sha256: 'df7c6c605d084252fc28687dffe63ca57dd04a463698d323924d3be2f1f5df32',
  },
  {
    name: 'pdf.js-2.14.305',
    from: { source: 'pdf.js' },
    archive: 'pdf.js_2.14.305+dfsg.orig.tar.xz',
    sha256: 'c6248d0b329c9edbea169740571561fd0941d9ff634c1b4c7bdaca5d681f34ce',
  },
  {
    name: 'pdfminer-20221105',
    from: { source: 'pdfminer' },
    archive: 'pdfminer_20221105+dfsg.orig.tar.xz',
    sha256: 'f1f162956168a27fb3be36072f2cc746d2a2de8a6dd2d44c60a6cc6f21c62f9c',
  },
  {
    name: 'libpdfbox2-java-2.0.27',
    from: { source: 'libpdfbox2-java' },
    archive: 'libpdfbox2-java_2.0.27.orig.tar.xz',
    sha256: 'd935d1b222a638f7d8fcde5653ff74bd41f3b73bd8ec5e010bd56e67afa18b90',
  },
  {
    name: 'unrtf-0.21.10',
    from: { source: 'unrtf' },
    archive: 'unrtf_0.21.10-clean.orig.tar.gz',
    sha256: '6fb599e90434c37f5e562392cca3c831c93638bfc141808c873c677b74aa3d62',
  },
  {
    name: 'python-odf-1.4.2',
    from: { source: 'python-odf' },
    archive: 'python-odf_1.4.2.orig.tar.gz',
    sha256: '24ad087f38031b2fe60bf22811b9550887afe1cfdea80672d6573387c3025583',
  },
  {
    name: 'abiword-3.0.5',
    from: { source: 'abiword' },
    archive: 'abiword_3.0.5~dfsg.orig.tar.xz',
    sha256: 'f79a96704619c7274f966c5a3d78fd77aa95d1b8a652d8e93c22dff32b3ef4e7',
  },
  {
    name: 'gnumeric-1.12.55',
    from: { source: 'gnumeric' },
    archive: 'gnumeric_1.12.55.orig.tar.xz',
    sha256: 'c69a09cd190b622acca476bbc3d4c03d68d7ccf59bba61bf036ce60885f9fb65',
  },
  {
    name: 'r-cran-officer-0.6.7',
    from: { source: 'r-cran-officer' },
    archive: 'r-cran-officer_0.6.7+dfsg.orig.tar.xz',
    sha256: '702af387f2a284cf4dbcbe0ebb70aa5b102c5797ee51e7dfe8bef9af01fc3752',
  },
  {
    name: 'okular-22.12.3',
    from: { source: 'okular' },
    archive: 'okular_22.12.3.orig.tar.xz',
    sha256: '01ef28755993ce0d5acd22a8a25d80497d813ffc399c87bb0bf76ee32a46da02',
  },
  {
    name: 'libemail-outlook-message-perl-0.921',
    from: { source: 'libemail-outlook-message-perl' },
    archive: 'libemail-outlook-message-perl_0.921.orig.tar.gz',
    sha256: 'fb4abeea14cda51c1e60bc211cf9521bbbaae74b84118ca6d58f0a7223680388',
  },
]
