import t from 'tap'
import { configFromEnv } from '../../../../adapters/production/config/env-config.ts'

t.test('OLLAMA_HOST is read as Ollama reads it', async (t) => {
  for (const [host, baseUrl] of [
    ['models.example', 'http://models.example:11434'],
    ['models.example\n', 'http://models.example:11434'],
    ['127.0.0.1:1', 'http://127.0.0.1:1'],
    [':11435', 'http://127.0.0.1:11435'],
    ['models.example:', 'http://models.example:11434'],
    ['models.example:8080/ollama', 'http://models.example:8080/ollama'],
    ['models.example/ollama', 'http://models.example:11434/ollama'],
    ['::1', 'http://[::1]:11434'],
    ['[::1]', 'http://[::1]:11434'],
    ['[::1]:1', 'http://[::1]:1'],
    ['http://models.example', 'http://models.example'],
    ['https://models.example', 'https://models.example'],
    ['https://models.example/ollama', 'https://models.example/ollama'],
    ['https://models.example:8080', 'https://models.example:8080'],
  ] as const)
    t.same(configFromEnv({ OLLAMA_HOST: host }, []).providers['ollama'], { use: 'ollama', baseUrl }, host)
})
