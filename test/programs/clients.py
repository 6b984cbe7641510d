"""Plays one client of Python's own against the addresses in the environment, and prints what it was told."""
import os
import sys

ask = [{"role": "user", "content": "Say ahoy."}]
chat, messages, gemini = "talk", "claude-sonnet-4-own", "gemini-3-own"


def by_openai():
    from openai import OpenAI

    client = OpenAI(max_retries=0)
    print(client.chat.completions.create(model=chat, messages=ask).choices[0].message.content)
    events = client.chat.completions.create(model=chat, messages=ask, stream=True)
    print("".join(event.choices[0].delta.content or "" for event in events if event.choices))
    print(client.responses.create(model=chat, input="Say ahoy.").output_text)
    with client.responses.stream(model=chat, input="Say ahoy.") as stream:
        print(stream.get_final_response().output_text)


def by_anthropic():
    from anthropic import Anthropic

    client = Anthropic(max_retries=0)
    asked = {"model": messages, "max_tokens": 100, "messages": ask}
    print(client.messages.create(**asked).content[-1].text)
    with client.messages.stream(**asked) as stream:
        print("".join(stream.text_stream))


def by_google_genai():
    from google import genai

    at = {"base_url": os.environ["GOOGLE_GEMINI_BASE_URL"], "api_version": "v1beta"}
    client = genai.Client(api_key=os.environ["GEMINI_API_KEY"], http_options=at)
    print(client.models.generate_content(model=gemini, contents="Say ahoy.").text)
    pieces = client.models.generate_content_stream(model=gemini, contents="Say ahoy.")
    print("".join(piece.text or "" for piece in pieces))


def by_litellm():
    import litellm

    litellm.telemetry = False
    base = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}
    asked = {"model": f"openai/{chat}", "messages": ask, **base}
    print(litellm.completion(**asked).choices[0].message.content)
    events = litellm.completion(**asked, stream=True)
    print("".join(event.choices[0].delta.content or "" for event in events))
    other = {"api_base": os.environ["ANTHROPIC_BASE_URL"], "api_key": os.environ["ANTHROPIC_API_KEY"]}
    print(litellm.completion(model=f"anthropic/{messages}", messages=ask, **other).choices[0].message.content)


def by_langchain():
    from langchain_anthropic import ChatAnthropic
    from langchain_openai import ChatOpenAI

    talk = ChatOpenAI(model=chat, max_retries=0)
    print(talk.invoke("Say ahoy.").content)
    print("".join(piece.content for piece in talk.stream("Say ahoy.")))
    print(ChatAnthropic(model=messages, max_retries=0).invoke("Say ahoy.").content)


def by_instructor():
    import instructor
    from openai import OpenAI
    from pydantic import BaseModel

    class Greeting(BaseModel):
        word: str

    client = instructor.from_openai(OpenAI(max_retries=0))
    print(client.chat.completions.create(model=chat, messages=ask, response_model=Greeting, max_retries=0).word)


def by_llama_index():
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.openai_like import OpenAILike

    base = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}
    talk = OpenAILike(model=chat, is_chat_model=True, max_retries=0, **base)
    asked = [ChatMessage(role="user", content="Say ahoy.")]
    print(talk.chat(asked).message.content)
    print("".join(piece.delta or "" for piece in talk.stream_chat(asked)))


globals()[f"by_{sys.argv[1]}"]()
