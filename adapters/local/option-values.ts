/** The values of options as the parser of arguments gives them: undefined where an option is absent. */
export type OptionValues<Options> = {
  readonly [name in keyof Options]?: (Options[name] extends { readonly type: 'boolean' } ? boolean : string) | undefined
}
