import * as v from 'valibot'
import { data } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { Tool } from '../ports/tool.ts'

const descriptor = v.object({
  name: v.string(),
  normalizedName: v.string(),
  shortName: v.string(),
  description: v.string(),
})

const list = route({
  method: 'GET',
  path: '/tools',
  summary: 'Lists the tools.',
  access: 'anyone',
  answer: v.array(descriptor),
  needs: { tools: Tool },
  handle: (_, { tools }) =>
    data(
      tools.map(({ name, shortName, description }) => ({
        name,
        normalizedName: name.toLowerCase(),
        shortName: shortName ?? name,
        description,
      })),
    ),
})

export const tools = [list] as const
