/** Lets the browser fetch all scripts behind the first view at once. The document names the hash of each, and the browser checks it. */
export const fetchLater = (): void => {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="later"]')) link.rel = 'modulepreload'
}
