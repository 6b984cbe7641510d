import * as v from 'valibot'
import type { Chapter } from '../../../core/ports/chapter.ts'

const probe = {
  status: 200,
  data: { ready: true },
  error: null,
  message: null,
  env: 'development',
  log: { request_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8' },
  validator: null,
  support_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8',
}

/** The chapter of routes that are served whatever chapters the settings choose. */
export const front: Chapter = {
  name: 'Gateway',
  about: 'What the gateway is, how it feels, and this description of it.',
  words: {
    'path.page': 'The name of a chapter, with the ending `.md`.',
    'data.name': 'The name of the product.',
    'data.ready': 'True where requests should be sent here.',
    'data.live': 'True in every answer.',
    'data.degraded': 'What clients that seal would refuse. Requests in the clear are served.',
    'data.links': 'Where everything is, by what it is for.',
  },
  operations: {
    'GET /': {
      about: 'The header `accept` decides: `text/html` gets the page.',
      types: { 'text/html': 'The page for people.' },
      answer: { ...probe, data: { name: 'sealgate', ready: true, links: { docs: '/docs', health: '/health' } } },
    },
    'HEAD /': { about: 'The answer has no body.' },
    'GET /health/live': {
      about: 'An orchestrator restarts a process that does not answer.',
      answer: { ...probe, data: { live: true } },
    },
    'GET /health/ready': {
      about: 'A load balancer sends requests elsewhere while this is 503.',
      answer: probe,
      statuses: [503],
    },
    'GET /health': { about: 'Programs and people find the state of the gateway here.', answer: probe, statuses: [503] },
    'GET /metrics': {
      about: 'Counters and histograms of requests, backends, tokens and proofs.',
      types: { 'text/plain': 'Lines of the Prometheus text format.' },
    },
    'GET /openapi.json': {
      about: 'Generators make clients from it.',
      shape: v.looseObject({}),
    },
    'GET /docs': {
      about: 'The page is made from `openapi.json` and needs no script.',
      types: { 'text/html': 'This page.' },
    },
    'GET /docs/{page}': {
      about: 'The name of a page ends in `.md`; `/llms.txt` names all pages.',
      path: { page: 'gateway.md' },
      types: { 'text/markdown': 'The chapter.' },
    },
    'GET /llms.txt': {
      about: 'The index has the form that llmstxt.org describes.',
      types: { 'text/markdown': 'A line for each page.' },
    },
  },
}
