"""Other tools: Opik, DSPy, weakincentives, plain functions, and files of other evaluation tools."""
