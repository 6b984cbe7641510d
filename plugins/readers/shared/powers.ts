/** Whether a superscript would make another number of the one before it: 10⁶ is no 106. */
export const isPower = (before: string, superscript: string): boolean =>
  /\d$/.test(before) && /^[-−+]?\d/.test(superscript)
