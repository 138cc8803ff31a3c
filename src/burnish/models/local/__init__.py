"""The embedded model: llama.cpp in worker processes."""
