import { drill, responsesWordings, scorecard, startOurs, startResponses } from './drill.ts'
import { isExpected, sealedScenes, startSealed } from './sealed.ts'
import { sealedTongues, tongues } from './tongues.ts'

const pace = process.argv.includes('--quick') ? 0.1 : 1

for (const tongue of tongues) {
  const results = await drill(startOurs, pace, tongue)
  process.stdout.write(`${tongue.name}\n${scorecard(results)}\n`)
  if (!results.every(({ mark }) => mark === 'pass')) process.exitCode = 1
}
for (const tongue of tongues) {
  const results = await drill(startResponses, pace, tongue, undefined, responsesWordings)
  process.stdout.write(`${tongue.name}, before a backend of Responses\n${scorecard(results)}\n`)
  if (!results.every(({ mark }) => mark === 'pass')) process.exitCode = 1
}
for (const tongue of sealedTongues) {
  const results = await drill(startSealed, pace, tongue, sealedScenes)
  process.stdout.write(`${tongue.name}, through sealgate seal\n${scorecard(results)}\n`)
  if (!results.every(isExpected)) process.exitCode = 1
}
