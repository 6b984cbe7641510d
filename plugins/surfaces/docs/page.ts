/** Text inside of a page, whatever stands in it. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** What a page may load and run: its own style, and nothing else. */
export const pageHeaders = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
} as const

/** A sentence inside of a page; what stands in backticks is code. */
export const prose = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** A whole page in both colour schemes, without any script; `more` is style of its own. */
export const pageOf = (title: string, body: string, more = ''): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
  `<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">` +
  `<title>${escapeHtml(title)}</title><style>${style}${more}</style></head><body>${body}</body></html>`

const style = `
:root{color-scheme:light dark;--text:#1b1f24;--dim:#57606a;--line:#d0d7de;--soft:#f6f8fa;--link:#0550ae;--page:#fff;--good:#116329;--bad:#a40e26}
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--dim:#9da7b3;--line:#30363d;--soft:#161b22;--link:#79c0ff;--page:#0d1117;--good:#7ee787;--bad:#ffa198}}
*{box-sizing:border-box}
body{font:16px/1.55 system-ui,sans-serif;margin:0;color:var(--text);background:var(--page)}
main,header,footer{max-width:56rem;margin:0 auto;padding:0 1rem}
header{padding-top:2rem}
h1{font-size:1.6rem;margin:0 0 .3rem}
h2{font-size:1.2rem;margin:2.2rem 0 .5rem;border-top:1px solid var(--line);padding-top:1.2rem}
h3{font:600 1rem ui-monospace,monospace;margin:1.6rem 0 .2rem;overflow-wrap:anywhere}
p,ul,dl{margin:.4rem 0}
a{color:var(--link)}
code,pre{font-family:ui-monospace,monospace;font-size:.875em}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.8rem;overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}
summary{cursor:pointer}
.scroll{overflow-x:auto}`
  .trim()
  .replaceAll('\n', '')
