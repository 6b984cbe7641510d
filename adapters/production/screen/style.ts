const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const

/** The text in a terminal's style, or as it is. */
export const styleText = (style: keyof typeof codes, text: string, on: boolean): string => {
  const [open, close] = codes[style]
  return on ? `\u001b[${open}m${text}\u001b[${close}m` : text
}

/** Whether lines of this process are read by a person. */
export const isTerminal = (): boolean => process.stdout.isTTY === true

/** Whether a terminal takes colours, as `NO_COLOR` and `TERM` say. */
export const takesColour = (env: NodeJS.ProcessEnv): boolean => !env['NO_COLOR'] && env['TERM'] !== 'dumb'
