import '../../fakes/unwatched.ts'
import t from 'tap'
import { toHex } from '../../../plugins/sealed/wire/bytes.ts'
import { sealedStage } from '../../fakes/sealing.ts'
import { ended, pythonWith, unwanted } from './python.ts'

t.setTimeout(900_000)

/** The keys of an enclave that the package would pin are its makers' own, so the client that ours verified names the key. */
const chat = `
import os
from openai import OpenAI
from tinfoil.client import GroundTruth, SecureClient

base, api_key, hpke_key, secret = (os.environ[name] for name in ("BASE", "API_KEY", "HPKE_KEY", "SECRET"))

class Proven(SecureClient):
    def verify(self):
        self._ground_truth = GroundTruth(public_key="", digest="", measurement="", hpke_public_key=hpke_key)
        return self._ground_truth

proven = Proven(enclave="enclave.invalid", measurement={}, base_url=f"{base}/ehbp/v1")
client = OpenAI(base_url=f"{base}/ehbp/v1", api_key=api_key, http_client=proven.make_secure_http_client(), max_retries=0)
ask = {"model": "quiet", "messages": [{"role": "user", "content": secret}]}
print("whole:", client.chat.completions.create(**ask).choices[0].message.content)
parts = client.chat.completions.create(**ask, stream=True)
print("streamed:", "".join(chunk.choices[0].delta.content or "" for chunk in parts if chunk.choices))
try:
    client.chat.completions.create(**{**ask, "model": "nobody"})
except Exception as error:
    print("refused:", error.status_code, error.body["code"])
`

/** The package as it comes asks for its makers' form of evidence. */
const pinned = `
import os
from tinfoil.client import SecureClient

try:
    SecureClient(enclave=os.environ["BASE"].removeprefix("http://"), measurement={}).verify()
    print("verified")
except Exception as error:
    print("refused")
`

t.test(
  'the package tinfoil of pip, unmodified, chats with the enclave',
  { skip: unwanted, timeout: 900_000 },
  async (t) => {
    const bin = await pythonWith('tinfoil==0.15.0')
    const stage = await sealedStage(t)
    const { publicKey } = await stage.key('x25519')
    const secret = 'the otters of Cold Quay'
    const env = {
      ...{ BASE: stage.base, API_KEY: stage.apiKey, HPKE_KEY: toHex(publicKey), SECRET: secret },
      ...{ HOME: t.testdir(), TINFOIL_USER_CACHE_SECRET: '' },
    }
    const { code, out, err } = await ended(`${bin}/python`, ['-c', chat], env)
    t.equal(out, `whole: ${secret}\nstreamed: ${secret}\nrefused: 404 unknown_model\n`, err)
    t.equal(code, 0)
    t.equal(stage.calls.length, 2)
    t.notMatch(JSON.stringify(stage.logged), /otters|nobody/, 'the gateway logs nothing of it')
    t.match(
      await ended(`${bin}/python`, ['-c', pinned], env),
      { code: 0, out: 'refused\n' },
      'its own pins take no other',
    )
  },
)
