import { connect, refusalLines, verdictLines } from 'sealgate/client'
import { parsePolicy } from 'sealgate/evidence'

/** The highest numbers that this browser saw; lower ones are refused. */
const memory = {
  load: () => JSON.parse(localStorage.getItem('sealgate-seen') ?? '{}'),
  save: (seen) => localStorage.setItem('sealgate-seen', JSON.stringify(seen)),
}

/** One line and its details. It is green for a proved platform alone: a development or test enclave proves nothing. */
export const show = (line, lines, proved) => {
  const place = document.querySelector('#line')
  place.textContent = line
  place.dataset.proved = proved ? 'platform' : 'nothing'
  const items = lines.map((text) => Object.assign(document.createElement('li'), { textContent: text }))
  document.querySelector('#checks').replaceChildren(...items)
}

export const showVerdict = (verdict) => {
  const lines = verdictLines(verdict)
  const proved = verdict.verified === 'platform'
  show(proved ? lines.at(-1) : lines[0], lines, proved)
}

/** Asks the enclave for evidence and shows what it proves. Sealing with the returned client asks for the same proof. */
export const check = async (baseUrl, apiKey, policy) => {
  const client = connect({ baseUrl, apiKey, policy: { memory, ...policy } })
  try {
    showVerdict(await client.verify())
  } catch (error) {
    // Other errors are flaws of the policy, which has no checks.
    const lines = error.name === 'SealgateError' ? refusalLines(error) : [`✗ ${error.message}`]
    show(lines.find((text) => text.startsWith('✗ The')) ?? lines.at(-1), lines, false)
  }
  return client
}

document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault()
  const fields = new FormData(event.target)
  show('…', [], false)
  try {
    await check(fields.get('gateway'), fields.get('key'), parsePolicy(fields.get('policy')))
  } catch (error) {
    show(`✗ ${error.message}`, [], false)
  }
})
