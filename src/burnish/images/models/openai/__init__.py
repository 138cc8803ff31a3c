"""OpenAI image models and judges, over the Images and the Responses API."""
