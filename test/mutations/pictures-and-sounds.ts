import type { Changes } from './mutation.ts'

const scripts = 'test/plugins/shared/pictures/ocr-scripts.test.ts'
const draws = 'test/plugins/shared/pictures/ocr-draws.test.ts'
const ocr = 'test/plugins/tools/getFileContentOCR.test.ts'
const flite = 'test/plugins/providers/flite.test.ts'
const diarization = 'test/plugins/tools/audioDiarization.test.ts'

export const picturesAndSounds: readonly Changes[] = [
  {
    file: 'plugins/shared/pictures/ocr-draws.ts',
    test: draws,
    changes: [
      { breaks: 'A clear reading needs no other one.', from: 'const clear = 0.93', to: 'const clear = 2' },
      { breaks: 'Two readings that say the same need no third one.', from: '|| isAgreed(pages)', to: '' },
      {
        breaks: 'Each line is taken from the reading in which it has the most evidence.',
        from: '(it.evidence > one.evidence ? it : one)',
        to: '(it.evidence < one.evidence ? it : one)',
      },
      {
        breaks: 'Boxes of readings at several sizes are those of the picture itself.',
        from: 'lines: page.lines.map((line) => inOriginal(line, scale))',
        to: 'lines: page.lines',
      },
      {
        breaks: 'A page without lines that the engine finds is read as one block.',
        from: "? read(pgmOf(picture), 'block') : joined(pages)",
        to: '? joined(pages) : joined(pages)',
      },
      { breaks: 'A page that lies askew is drawn straight.', from: 'const slight = 0.7', to: 'const slight = 70' },
    ],
  },
  {
    file: 'plugins/shared/pictures/ocr-engine.ts',
    test: draws,
    changes: [
      { breaks: 'Columns are read one after the other.', from: 'found: PSM.AUTO', to: 'found: PSM.SINGLE_BLOCK' },
    ],
  },
  {
    file: 'plugins/shared/pictures/ocr-upright.ts',
    test: draws,
    changes: [
      {
        breaks: 'A page that stands on its head is read.',
        from: '([0, 1, 3, 2] as const)',
        to: '([0, 1, 3] as const)',
      },
      {
        breaks: 'A short page behind a turned one is read as it lies.',
        from: 'return likely === 0 ? page : surer',
        to: 'return likely >= 0 ? page : surer',
      },
      {
        breaks: 'A picture is read from few sides.',
        from: 'if (side === null) return page',
        to: 'if (side === null) for (let more = 0; more < 9; more++) await surestSide(read, picture, likely)',
      },
    ],
  },
  {
    file: 'plugins/shared/pictures/tilt.ts',
    test: draws,
    changes: [
      { breaks: 'Grain has no slant.', from: 'const clearly = 1.1', to: 'const clearly = 0' },
      { breaks: 'A slant is found to a fraction of a degree.', from: 'narrow: 0.1', to: 'narrow: 2' },
      {
        breaks: 'The way of a slant is that of the clock.',
        from: 'marks[at + 1]! * cos - marks[at]! * sin',
        to: 'marks[at + 1]! * cos + marks[at]! * sin',
      },
    ],
  },
  {
    file: 'plugins/shared/pictures/resampled.ts',
    test: draws,
    changes: [
      {
        breaks: 'Corners of a turned picture have the grey of its paper.',
        from: 'top >= height) return paper',
        to: 'top >= height) return 0',
      },
    ],
  },
  {
    file: 'plugins/shared/pictures/grain.ts',
    test: draws,
    changes: [
      { breaks: 'Letters are no grain.', from: 'let left = all / 2', to: 'let left = all * 0.99' },
      { breaks: 'Smoothing lessens grain.', from: '+ 8) >> 4', to: '+ 8) >> 5' },
    ],
  },
  {
    file: 'plugins/shared/pictures/most-inked.ts',
    test: draws,
    changes: [
      {
        breaks: 'The sides of a picture are tried where its ink is.',
        from: 'if (sum > most)',
        to: 'if (sum < most)',
      },
    ],
  },
  {
    file: 'plugins/shared/pictures/grey.ts',
    test: 'test/plugins/shared/pictures/images.test.ts',
    changes: [
      {
        breaks: 'A picture has as many bytes as its head says.',
        from: 'bytes.length === width * height ?',
        to: 'bytes.length >= 0 ?',
      },
    ],
  },
  {
    file: 'plugins/shared/pictures/ocr-scripts.ts',
    test: scripts,
    changes: [
      {
        breaks: 'A picture is read in few languages of its script.',
        from: 'const mostLanguages = 3',
        to: 'const mostLanguages = 30',
      },
      {
        breaks: 'The language that reads every picture does not read it again.',
        from: '!usualLanguages.includes(it)',
        to: "it !== ''",
      },
      {
        breaks: 'A script with an installed language lacks nothing.',
        from: ' || installed.length > 0',
        to: '',
      },
      {
        breaks: 'A script is a name of the list alone.',
        from: '!Object.hasOwn(languagesOf, script)',
        to: 'languagesOf[script] === undefined',
      },
    ],
  },
  {
    file: 'plugins/shared/pictures/ocr-job.ts',
    test: ocr,
    changes: [
      {
        breaks: 'The script of a picture that is read unsurely is told.',
        from: 'const clear = 0.85',
        to: 'const clear = 0',
      },
      {
        breaks: 'A caller who names languages is told of no others.',
        from: 'languages === null ? byScript(images) : inEach(languages, images)',
        to: 'byScript(images)',
      },
    ],
  },
  {
    file: 'plugins/tools/getFileContentOCR.ts',
    test: ocr,
    changes: [
      {
        breaks: 'The tool names the script that it can not read.',
        from: '...(missing && { missing }),',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/readers/pdf/pdf.ts',
    test: 'test/plugins/tools/getPDFContent.test.ts',
    changes: [
      {
        breaks: 'A scan in a PDF names the script that no installed language reads.',
        from: '...(missing && { missing }),',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/tools/imageDescribeAndCaptionFallback/recognise.ts',
    test: 'test/plugins/tools/imageDescribeAndCaptionFallback.test.ts',
    changes: [
      {
        breaks: 'Text in an image tells how sure it is.',
        from: "textConfidence: words === '' ? null : meanConfidence(kept)",
        to: 'textConfidence: null',
      },
    ],
  },
  {
    file: 'plugins/shared/sounds/speakable.ts',
    test: flite,
    changes: [
      {
        breaks: 'Letters and digits of other scripts are refused.',
        from: '? foreign : unsaid(character)',
        to: "? '' : unsaid(character)",
      },
      { breaks: 'A text with an element of SSML is SSML.', from: '(?:speak|break|', to: '(?:speak|' },
      { breaks: 'Latin letters without a mark are said.', from: "ß: 'ss', ", to: '' },
      { breaks: 'A currency is said behind its number.', from: "'$2$1'", to: "'$1$2'" },
      { breaks: 'A hidden hyphen parts no word.', from: '[\\p{M}\\p{Cf}]', to: '[\\p{M}]' },
    ],
  },
  {
    file: 'plugins/shared/sounds/speech.ts',
    test: flite,
    changes: [
      {
        breaks: 'SSML is not spoken as words.',
        from: 'if (hasSpeechMarkup(text)) throw',
        to: "if (text === '<') throw",
      },
    ],
  },
  {
    file: 'plugins/tools/shared/speakers-job.ts',
    test: diarization,
    changes: [
      {
        breaks: 'Where nobody speaks nothing is guessed.',
        from: 'turns.length === 0 ? null : confidenceOf(evidence)',
        to: 'confidenceOf(evidence)',
      },
      {
        breaks: 'A guess is at least as sure as a coin.',
        from: 'Math.min(against, 1 / against)',
        to: 'Math.max(against, 1 / against)',
      },
    ],
  },
  {
    file: 'plugins/tools/transcribeAudioWithDiarization/transcribe.ts',
    test: 'test/plugins/tools/transcribeAudioWithDiarization.test.ts',
    changes: [
      {
        breaks: 'Speakers that are told apart by their voices are called a guess.',
        from: "diarization: 'local', guess }",
        to: "diarization: 'local' }",
      },
    ],
  },
]
