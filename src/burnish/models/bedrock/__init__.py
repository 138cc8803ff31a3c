"""Models on Amazon Bedrock, by its Converse API; extra `bedrock` for signatures."""
