import { createTransport } from 'ehbp'
import { ehbp } from './dist/plugins/sealed/client/ehbp.js'
// text() of a page hides the error of a stream, and a reader shows it.
const textOf = async ({ body }) => {
  const [reader, decoder] = [body.getReader(), new TextDecoder()]
  for (let text = ''; ;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
}
globalThis.read = (options, url) =>
  ehbp(options)
    .fetch(url, { method: 'POST', body: '{}' })
    .then(async (answer) => answer.status + ' ' + (await textOf(answer)))
    .catch((error) => error.fault ?? String(error))
globalThis.chat = async (options, params) => {
  const { chat } = ehbp(options)
  if (!params.stream) return (await chat.completions.create(params)).choices[0].message.content
  let text = ''
  for await (const { choices } of await chat.completions.create(params)) text += choices[0]?.delta.content ?? ''
  return text
}
globalThis.others = async (base, path, headers, body) => {
  const transport = await createTransport(base)
  const answer = await transport.post(base + path, body, { headers })
  return answer.status + ' ' + (await answer.text())
}
