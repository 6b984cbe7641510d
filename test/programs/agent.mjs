import { execSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, Runner, setTracingDisabled, tool } from '@openai/agents'
setTracingDisabled(true)
const made = (name, member, execute) => {
  const parameters = { type: 'object', properties: { [member]: { type: 'string' } }, required: [member] }
  const strict = { ...parameters, additionalProperties: false }
  return tool({
    name,
    description: name,
    parameters: strict,
    strict: true,
    execute: async (args) => execute(args[member]),
  })
}
const tools = [
  made('read', 'file', (file) => readFileSync(file, 'utf8')),
  made('run', 'command', (command) => execSync(command).toString()),
]
const agent = new Agent({ name: 'Reader', instructions: 'Be brief.', model: 'talk', tools })
const result = await new Runner().run(agent, process.argv[2])
console.log(result.finalOutput)
