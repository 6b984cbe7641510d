import { use } from '../../core/plugin.ts'
import audioDiarization from '../../plugins/tools/audioDiarization.ts'
import audioGenerateFromText from '../../plugins/tools/audioGenerateFromText.ts'
import createFileForUser from '../../plugins/tools/createFileForUser.ts'
import generateImage from '../../plugins/tools/generateImage.ts'
import getDataFileContent from '../../plugins/tools/getDataFileContent.ts'
import getFileContentOCR from '../../plugins/tools/getFileContentOCR.ts'
import getPDFContent from '../../plugins/tools/getPDFContent.ts'
import getPowerPointContent from '../../plugins/tools/getPowerPointContent.ts'
import getSpreadsheetContent from '../../plugins/tools/getSpreadsheetContent.ts'
import getTextDocumentContent from '../../plugins/tools/getTextDocumentContent.ts'
import getTime from '../../plugins/tools/getTime.ts'
import imageDescribeAndCaption from '../../plugins/tools/imageDescribeAndCaption.ts'
import imageDescribeAndCaptionFallback from '../../plugins/tools/imageDescribeAndCaptionFallback.ts'
import searchRag from '../../plugins/tools/searchRag.ts'
import transcribeAudioToText from '../../plugins/tools/transcribeAudioToText.ts'
import transcribeAudioWithDiarization from '../../plugins/tools/transcribeAudioWithDiarization.ts'
import videoDescribeAndCaption from '../../plugins/tools/videoDescribeAndCaption.ts'
import webPageScraperTool from '../../plugins/tools/webPageScraperTool.ts'
import webSearchTool from '../../plugins/tools/webSearchTool.ts'

/** The gateway lists these tools and the enclave runs them, so both get the same list. */
export const tools = [
  use(audioDiarization),
  use(audioGenerateFromText),
  use(createFileForUser),
  use(generateImage),
  use(getDataFileContent),
  use(getFileContentOCR),
  use(getPDFContent),
  use(getPowerPointContent),
  use(getSpreadsheetContent),
  use(getTextDocumentContent),
  use(getTime),
  use(imageDescribeAndCaption),
  use(imageDescribeAndCaptionFallback),
  use(searchRag),
  use(transcribeAudioToText),
  use(transcribeAudioWithDiarization),
  use(videoDescribeAndCaption),
  use(webPageScraperTool),
  use(webSearchTool),
]
