"""The skills API of Anthropic, which its SDKs speak."""
