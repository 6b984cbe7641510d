import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

type Terminal = NodeJS.ReadableStream & { readonly isTTY?: boolean }

/** The passphrase of an existing backup, of any length. */
export const passphrase = async (env: NodeJS.ProcessEnv, terminal: Terminal = process.stdin): Promise<string> =>
  env['SEALGATE_PASSPHRASE'] || (await typed(['Passphrase: '], terminal)).join('')

/** The passphrase of a new backup. A person types it twice, because the terminal shows nothing. */
export const newPassphrase = async (env: NodeJS.ProcessEnv, terminal: Terminal = process.stdin): Promise<string> => {
  const words = env['SEALGATE_PASSPHRASE']
  const [first = '', again] = words ? [words, words] : await typed(['Passphrase: ', 'The same again: '], terminal)
  if (first !== again) throw new Error('the two passphrases differ')
  if (first.length < 8) throw new Error('a passphrase has eight characters at least')
  return first
}

/** Rejects without a terminal, and when the input ends before the last prompt has its line. */
const typed = async (prompts: readonly string[], input: Terminal): Promise<readonly string[]> => {
  if (!input.isTTY) throw new Error('SEALGATE_PASSPHRASE is needed where there is no terminal')
  // The terminal shows no typed character.
  const output = new Writable({ write: (_, __, done) => done() })
  const lines = createInterface({ input, output, terminal: true, historySize: 0 })
  const phrases: string[] = []
  process.stderr.write(prompts[0] ?? '')
  for await (const line of lines) {
    phrases.push(line)
    process.stderr.write('\n')
    if (phrases.length === prompts.length) break
    process.stderr.write(prompts[phrases.length] ?? '')
  }
  lines.close()
  if (phrases.length < prompts.length) throw new Error('no passphrase was typed')
  return phrases
}
