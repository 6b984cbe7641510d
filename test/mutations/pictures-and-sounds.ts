import type { Changes } from './mutation.ts'

const scripts = 'test/plugins/shared/pictures/ocr-scripts.test.ts'
const ocr = 'test/plugins/tools/getFileContentOCR.test.ts'
const flite = 'test/plugins/providers/flite.test.ts'
const diarization = 'test/plugins/tools/audioDiarization.test.ts'

export const picturesAndSounds: readonly Changes[] = [
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
    file: 'plugins/tools/imageDescribeAndCaptionFallback.ts',
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
    file: 'plugins/tools/transcribeAudioWithDiarization.ts',
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
