"""The skills API of OpenAI, which its SDKs speak."""
