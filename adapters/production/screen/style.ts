/** ECMA-48 (SGR): the number that begins a style, and the number that ends it. */
const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const

/** The text in a terminal's style, or unchanged. */
export const styleText = (style: keyof typeof codes, text: string, on: boolean): string => {
  const [open, close] = codes[style]
  return on ? `\u001b[${open}m${text}\u001b[${close}m` : text
}

/** True when a person reads the lines of this process. */
export const isTerminal = (): boolean => process.stdout.isTTY === true

/** True when the terminal takes colours, by `NO_COLOR` and `TERM`. */
export const takesColour = (env: NodeJS.ProcessEnv): boolean => !env['NO_COLOR'] && env['TERM'] !== 'dumb'
