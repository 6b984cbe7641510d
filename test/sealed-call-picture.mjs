// Draws docs/sealed-call.svg, the picture of the README: node test/sealed-call-picture.mjs
import { writeFileSync } from 'node:fs'

const boxes = [
  {
    x: 20,
    title: 'Your machine',
    lines: ['verifies the enclave', 'seals the prompt', 'opens the answer'],
    fill: '#e7f5ec',
  },
  {
    x: 250,
    title: 'Gateway',
    lines: ['checks key and limits', 'carries it unread', 'counts the use'],
    fill: '#f1f3f5',
  },
  {
    x: 480,
    title: 'Enclave',
    lines: ['proves what it is', 'opens the prompt', 'asks, seals the answer'],
    fill: '#e7f5ec',
  },
  { x: 710, title: 'Backend', lines: ['a provider, or', 'a model that proves', 'what it is, too'], fill: '#fff4e0' },
]
const arrows = [
  { x: 190, label: 'ciphertext' },
  { x: 420, label: 'ciphertext' },
  { x: 650, label: 'TLS' },
]

const box = ({ x, title, lines, fill }) =>
  `<rect x="${x}" y="40" width="170" height="120" rx="8" fill="${fill}" stroke="#57606a"/>` +
  `<text x="${x + 85}" y="68" text-anchor="middle" font-weight="600">${title}</text>` +
  lines.map((line, at) => `<text x="${x + 85}" y="${96 + at * 22}" text-anchor="middle">${line}</text>`).join('')
const arrow = ({ x, label }) =>
  `<path d="M${x + 4} 100h48m-8-5 8 5-8 5" fill="none" stroke="#24292f" stroke-width="1.5"/>` +
  `<text x="${x + 30}" y="184" text-anchor="middle" font-size="12">${label}</text>`

writeFileSync(
  'docs/sealed-call.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 200" font-family="system-ui, sans-serif" font-size="14" fill="#24292f">` +
    `<title>A sealed call: your machine and the enclave hold the plaintext, the gateway between them holds ciphertext alone</title>` +
    `<rect width="900" height="200" fill="#fff"/>${boxes.map(box).join('')}${arrows.map(arrow).join('')}</svg>\n`,
)
